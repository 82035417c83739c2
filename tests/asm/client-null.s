# rustc 1.95.0, x86_64, release profile; 148 instructions
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
sub $0x68,%rsp
mov %rsi,%rbx
mov %rdi,%r14
mov 0x18(%rsi),%rax
mov %fs:,%rsi
mov %rsi,%rcx
or %rax,%rcx
je
mov 0x8(%rbx),%r15
mov 0x10(%rbx),%r12d
mov (%rbx),%r13
lea 0x40(%r13),%rbx
mov %fs:,%rax
mov 0x140(%r13),%rcx
mov $0x2,%edx
cmp %rax,%rcx
jne
mov 0x148(%r13),%rcx
test %rcx,%rcx
je
lea -0x1(%rcx),%rdx
and %rcx,%rdx
mov %rdx,0x148(%r13)
tzcnt %rcx,%rdx
mov 0x158(%r13),%ecx
add %edx,%ecx
mov 0x140(%r13),%rsi
cmp %rax,%rsi
jne
mov %r15,0x28(%rsp)
mov %rbx,(%rsp)
jmp
mov %ecx,%r15d
cmp %r15,0x50(%r13)
jbe
shl $0x8,%r15
add 0x48(%r13),%r15
mov 0x2c(%r15),%ebx
mov (%rip),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
mov %r14,0x10(%rsp)
movzwl %ax,%eax
mov %r12,0x30(%rsp)
or %r12d,%eax
or %eax,%ebx
mov (%r15),%rax
movl $0x0,0x4(%rax)
movl $0x0,0x8(%rax)
mov %ebx,0xc(%rax)
mov 0x20(%r15),%r12d
lea 0x1(%r12),%eax
mov %eax,%r14d
and $0x1fffffff,%r14d
mov %r14d,0x20(%r15)
test $0x3f,%al
je
mov (%r15),%rbp
lea 0x2(,%r14,8),%eax
xchg %eax,0x0(%rbp)
movzwl %bx,%ebx
lea -0x7(,%r14,8),%ecx
cmp %ecx,%eax
je
mov 0x24(%r15),%r12d
mov %ebx,0x8(%rsp)
cmp %r12d,%ebx
je
cmpq $0x0,%fs:
jne
lea 0x0(,%r14,8),%ebx
movzwl 0x38(%r15),%eax
movzwl %ax,%esi
mov %rbp,%rdi
mov %r14d,%edx
call nearcall::raw::call::poll_for_a_while
mov %edx,%ecx
test %esi,%esi
je
movzbl (%rip),%eax
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
sub %ebx,%eax
cmp $0x1,%eax
ja
mov %rdx,%r8
mov %r8,%rax
shr $0x20,%rax
movzwl %ax,%ecx
mov %ecx,0x24(%r15)
cmp %r8d,0x18(%r15)
jb
mov %r14,%rcx
shr $0x30,%rcx
jne
and $0x10000,%eax
jne
xor %eax,%eax
shr $0x20,%r14
jne
mov 0x10(%rsp),%rbx
movl $0x20,(%rbx)
mov 0x30(%r15),%rcx
test %rcx,%rcx
je
add $0x140,%r13
movzwl 0x3a(%r15),%esi
and $0xf,%esi
shl $0x6,%esi
mov %fs:,%rdx
or %rcx,0x8(%r13,%rsi,1)
mov 0x0(%r13,%rsi,1),%rsi
cmp %rdx,%rsi
sete %cl
test %rax,%rax
jne
cmp %rdx,%rsi
jne
mov %rbx,%rax
add $0x68,%rsp
pop %rbx
pop %r12
pop %r13
pop %r14
pop %r15
pop %rbp
ret
