# rustc 1.95.0, x86_64, release profile; 94 instructions
jmp (%rip)
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
push %rax
mov %rdi,%rbx
mov (%rsi),%r13
mov 0x20(%rsi),%rbp
lea 0x40(%r13),%r14
test %rbp,%rbp
je
mov %fs:,%rcx
mov 0x140(%r13),%rax
cmp %rcx,%rax
jne
mov 0x148(%r13),%rax
test %rax,%rax
je
lea -0x1(%rax),%rdx
and %rax,%rdx
mov %rdx,0x148(%r13)
tzcnt %rax,%rdx
mov 0x158(%r13),%eax
add %edx,%eax
mov 0x140(%r13),%rdi
cmp %rcx,%rdi
jne
mov %eax,%r15d
cmp %r15,0x50(%r13)
jbe
shl $0x8,%r15
add 0x48(%r13),%r15
mov (%r15),%r12
mov %fs:,%eax
movzwl %ax,%eax
mov 0x2c(%r15),%edx
or %eax,%edx
movl $0x0,0x4(%r12)
movl $0x0,0x8(%r12)
mov %edx,0xc(%r12)
mov 0x20(%r15),%edi
lea 0x1(%rdi),%r8d
mov %r8d,%esi
and $0x1fffffff,%esi
mov %esi,0x20(%r15)
lea 0xa(,%rdi,8),%ecx
xchg %ecx,(%r12)
lea 0x1(,%rdi,8),%r9d
cmp %r9d,%ecx
jne
mov 0x24(%r15),%r9d
cmp %r9d,%eax
jne
test $0x3f,%r8b
je
cmp %eax,%edx
jne
lea 0x8(,%rdi,8),%eax
movzwl 0x38(%r15),%ecx
test %cx,%cx
je
movdqa (%r12),%xmm0
movq %xmm0,%rdx
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rcx
mov %eax,%ebp
sub %rbp,%rdx
cmp $0x1,%rdx
ja
mov 0x24(%r15),%eax
shl $0x20,%rax
cmp %rax,%rcx
je
movl $0x20,(%rbx)
mov 0x30(%r15),%rdx
test %rdx,%rdx
je
mov %fs:,%rax
or %rdx,0x148(%r13)
mov 0x140(%r13),%rcx
cmp %rax,%rcx
je
mov %rbx,%rax
add $0x8,%rsp
pop %rbx
pop %r12
pop %r13
pop %r14
pop %r15
pop %rbp
ret
