# rustc 1.95.0, x86_64, release profile; 131 instructions
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
sub $0x18,%rsp
mov %ecx,%ebp
mov %edx,%r12d
mov %rdi,%rbx
mov (%rsi),%r13
mov 0x20(%rsi),%r14
lea 0x40(%r13),%r15
test %r14,%r14
je
mov (%rip),%rax
mov (%rax),%eax
test %eax,%eax
jne
mov %fs:,%rcx
mov 0x140(%r13),%rax
cmp %rcx,%rax
jne
mov 0x148(%r13),%rax
test %rax,%rax
je
mov %r15,0x8(%rsp)
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
mov (%r15),%rax
mov %r12d,0x10(%rax)
mov (%r15),%rax
mov %ebp,0x14(%rax)
mov (%r15),%r12
mov %fs:(%r14),%eax
movzwl %ax,%r8d
mov 0x2c(%r15),%edx
mov 0x10(%rsi),%r9d
mov %r8d,%eax
or %r9d,%eax
or %edx,%eax
movl $0x1,0x4(%r12)
movl $0x8,0x8(%r12)
mov %eax,0xc(%r12)
mov 0x20(%r15),%edi
lea 0x1(%rdi),%r10d
mov %r10d,%eax
and $0x1fffffff,%eax
mov %eax,0x20(%r15)
lea 0xa(,%rdi,8),%ecx
xchg %ecx,(%r12)
lea 0x1(,%rdi,8),%r11d
cmp %r11d,%ecx
jne
mov 0x24(%r15),%r11d
cmp %r11d,%r8d
je
test $0x3f,%r10b
setne %r8b
test %edx,%edx
sete %dl
test %r8b,%dl
je
lea 0x8(,%rdi,8),%r14d
movzwl 0x38(%r15),%ecx
test %cx,%cx
je
movdqa (%r12),%xmm0
movq %xmm0,%rdx
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rcx
mov %r14d,%edi
sub %rdi,%rdx
cmp $0x1,%rdx
ja
mov 0x24(%r15),%edx
shl $0x20,%rdx
or $0x4,%rdx
cmp %rdx,%rcx
je
mov (%r15),%rax
mov 0x10(%rax),%eax
movl $0x20,(%rbx)
mov %eax,0x4(%rbx)
mov 0x30(%r15),%rdx
test %rdx,%rdx
je
mov %fs:,%rax
or %rdx,0x148(%r13)
mov 0x140(%r13),%rcx
cmp %rax,%rcx
je
mov %rbx,%rax
add $0x18,%rsp
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
