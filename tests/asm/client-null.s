# rustc 1.95.0, x86_64, release profile; 166 instructions
jmp (%rip)
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
sub $0xc8,%rsp
mov %rsi,%rbx
mov %rdi,%r15
mov 0x18(%rsi),%r14
mov %fs:,%rax
lea -0xe8(%rax),%rax
mov (%rax),%rdx
mov %rdx,%rax
or %r14,%rax
mov %r15,0x8(%rsp)
je
mov 0x8(%rbx),%r12
mov 0x10(%rbx),%r13d
mov (%rbx),%rbp
lea 0x40(%rbp),%rbx
mov %fs:,%rax
lea -0xb0(%rax),%rax
mov %rax,%r14
mov (%rax),%rax
mov 0x140(%rbp),%rcx
mov $0x2,%edx
cmp %rax,%rcx
jne
mov 0x148(%rbp),%rcx
test %rcx,%rcx
je
lea -0x1(%rcx),%rdx
and %rcx,%rdx
mov %rdx,0x148(%rbp)
tzcnt %rcx,%rdx
mov 0x158(%rbp),%ecx
add %edx,%ecx
mov 0x140(%rbp),%rsi
cmp %rax,%rsi
jne
mov %r12,0x28(%rsp)
mov %r14,0x20(%rsp)
jmp
mov %ecx,%r12d
cmp %r12,0x50(%rbp)
jbe
shl $0x8,%r12
add 0x48(%rbp),%r12
mov 0x2c(%r12),%r15d
mov (%rip),%rax
mov (%rax),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
mov %rbx,0x10(%rsp)
movzwl %ax,%eax
mov %r13,0x98(%rsp)
or %r13d,%eax
or %eax,%r15d
mov (%r12),%rax
movl $0x0,0x4(%rax)
movl $0x0,0x8(%rax)
mov %r15d,0xc(%rax)
movq $0x0,0x30(%rsp)
lea 0x20(%r12),%rbx
mov 0x20(%r12),%r13d
lea 0x1(%r13),%eax
mov %eax,%r14d
and $0x1fffffff,%r14d
mov %r14d,0x20(%r12)
test $0x3f,%al
je
mov (%r12),%rcx
lea 0x2(,%r14,8),%eax
mov %rcx,0x18(%rsp)
xchg %eax,(%rcx)
movzwl %r15w,%r15d
lea -0x7(,%r14,8),%ecx
cmp %ecx,%eax
je
mov $0x1,%al
cmpq $0x0,0x30(%rsp)
jne
mov %eax,0x4(%rsp)
mov 0x24(%r12),%r13d
cmp %r13d,%r15d
je
mov %fs:,%rax
lea -0x60(%rax),%rax
cmpq $0x0,(%rax)
je
movzwl 0x38(%r12),%eax
movzwl %ax,%esi
mov 0x18(%rsp),%rdi
mov %r14d,%edx
call (%rip)
mov %edx,%ecx
test %esi,%esi
je
mov (%rip),%rax
movzbl (%rax),%eax
cmp $0x2,%al
jne
movdqa (%rdi),%xmm0
movq %xmm0,%rax
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rdx
shl $0x3,%ecx
mov %eax,%esi
sub %ecx,%esi
and $0xfffffffe,%esi
cmp $0x2,%esi
jne
ret
mov %rax,%rbx
shl $0x3,%r14d
sub %r14d,%eax
cmp $0x1,%eax
ja
mov %rdx,%r8
mov 0x18(%r12),%ecx
mov %r8,%rax
shr $0x20,%rax
movzwl %ax,%edx
mov %edx,0x24(%r12)
cmp %r8d,%ecx
jb
mov %rbx,%rcx
shr $0x30,%rcx
jne
and $0x10000,%eax
jne
xor %eax,%eax
shr $0x20,%rbx
jne
mov 0x8(%rsp),%rcx
movl $0x20,(%rcx)
mov 0x30(%r12),%rcx
test %rcx,%rcx
je
add $0x140,%rbp
movzwl 0x3a(%r12),%edx
mov 0x20(%rsp),%rsi
mov (%rsi),%rsi
and $0xf,%edx
shl $0x6,%edx
or %rcx,0x8(%rbp,%rdx,1)
mov 0x0(%rbp,%rdx,1),%rdi
cmp %rsi,%rdi
mov 0x8(%rsp),%r15
jne
test %rax,%rax
jne
mov %r15,%rax
add $0xc8,%rsp
pop %rbx
pop %r12
pop %r13
pop %r14
pop %r15
pop %rbp
ret
