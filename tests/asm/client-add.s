# rustc 1.95.0, x86_64, release profile; 190 instructions
push %rbx
sub $0x50,%rsp
mov %rdi,%rbx
lea 0x10(%rsp),%rdi
mov $0x2,%edx
mov $0x3,%ecx
call (%rip)
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
sub $0xc8,%rsp
mov %ecx,%ebx
mov %edx,%r14d
mov %rsi,%r15
mov %rdi,0x8(%rsp)
mov 0x18(%rsi),%r12
mov %fs:,%rax
lea -0xe8(%rax),%rax
mov (%rax),%rdx
mov %rdx,%rax
or %r12,%rax
je
mov 0x8(%r15),%r13
mov 0x10(%r15),%eax
mov %rax,0x10(%rsp)
mov (%r15),%rbp
lea 0x40(%rbp),%r15
mov %fs:,%rax
lea -0xb0(%rax),%rax
mov %rax,%r12
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
mov %r15,0x18(%rsp)
jmp
mov %ecx,%r12d
cmp %r12,0x50(%rbp)
jbe
shl $0x8,%r12
add 0x48(%rbp),%r12
mov (%r12),%rax
mov %r14d,0x10(%rax)
mov (%r12),%rax
mov %ebx,0x14(%rax)
mov 0x2c(%r12),%ebx
mov (%rip),%rax
mov (%rax),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
mov %r13,0x98(%rsp)
movzwl %ax,%eax
or 0x10(%rsp),%eax
or %eax,%ebx
mov (%r12),%rax
movl $0x1,0x4(%rax)
movl $0x8,0x8(%rax)
mov %ebx,0xc(%rax)
movq $0x0,0x30(%rsp)
lea 0x20(%r12),%r14
mov 0x20(%r12),%r13d
lea 0x1(%r13),%eax
mov %eax,%r15d
and $0x1fffffff,%r15d
mov %r15d,0x20(%r12)
test $0x3f,%al
je
mov (%r12),%rcx
lea 0x2(,%r15,8),%eax
mov %rcx,0x20(%rsp)
xchg %eax,(%rcx)
movzwl %bx,%ebx
lea -0x7(,%r15,8),%ecx
cmp %ecx,%eax
je
mov $0x1,%al
cmpq $0x0,0x30(%rsp)
jne
mov %eax,0x4(%rsp)
mov 0x24(%r12),%r13d
cmp %r13d,%ebx
je
mov %fs:,%rax
lea -0x60(%rax),%rax
cmpq $0x0,(%rax)
je
movzwl 0x38(%r12),%eax
movzwl %ax,%esi
mov 0x20(%rsp),%rdi
mov %r15d,%edx
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
mov %rax,%r14
shl $0x3,%r15d
sub %r15d,%eax
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
mov %r14,%rcx
shr $0x30,%rcx
jne
and $0x10000,%eax
jne
xor %eax,%eax
shr $0x20,%r14
jne
mov (%r12),%rcx
mov 0x10(%rcx),%ecx
mov 0x8(%rsp),%rbx
mov %ecx,0x4(%rbx)
movl $0x20,(%rbx)
mov 0x30(%r12),%rcx
test %rcx,%rcx
je
add $0x140,%rbp
movzwl 0x3a(%r12),%edx
mov 0x28(%rsp),%rsi
mov (%rsi),%rsi
and $0xf,%edx
shl $0x6,%edx
or %rcx,0x8(%rbp,%rdx,1)
mov 0x0(%rbp,%rdx,1),%rdi
cmp %rsi,%rdi
jne
test %rax,%rax
jne
mov %rbx,%rax
add $0xc8,%rsp
pop %rbx
pop %r12
pop %r13
pop %r14
pop %r15
pop %rbp
ret
cmpl $0x20,0x10(%rsp)
jne
mov 0x14(%rsp),%eax
mov %eax,0xc(%rsp)
cmp $0x5,%eax
jne
movl $0x20,(%rbx)
mov %rbx,%rax
add $0x50,%rsp
pop %rbx
ret
