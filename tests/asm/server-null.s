# rustc 1.95.0, x86_64, release profile; 156 instructions
lea 0x2(,%rbx,8),%eax
cmp %eax,%edx
jne
mov 0x10(%rsp),%rax
mov 0x28(%rax),%eax
test %eax,%eax
jne
mov 0x70(%rsp),%rax
test %rax,%rax
je
cmpq $0x0,0xa0(%rsp)
je
mov 0x20(%rsp),%r9
mov (%r9),%rax
mov 0x60(%rax),%rcx
cmp 0xc0(%rsp),%rcx
mov 0x18(%rsp),%r8
mov 0x10(%rsp),%rsi
mov 0x40(%rsp),%rcx
jne
inc %r15
mov %r15,0x68(%rax)
movzwl %cx,%ebp
mov 0x28(%rsp),%rcx
inc %ecx
cmp %r14d,%ebp
je
mov 0x34(%rsp),%edx
test %edx,%edx
je
cmp $0x40,%ecx
je
mov $0x18,%r15d
movzbl (%rip),%eax
cmp $0x2,%al
jne
mov 0x38(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%r14
punpckhqdq %xmm0,%xmm0
movq %xmm0,%r12
test $0x6,%r14b
je
mov %rcx,0x28(%rsp)
mov 0xc8(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%ebx
and $0x1fffffff,%ebx
lea 0xa(,%rax,8),%ecx
cmp %r14d,%ecx
je
mov (%r9),%rax
mov 0x68(%rax),%r15
or $0x1,%r15
mov %r15,0x68(%rax)
mov (%r8),%r13
mov 0x8(%r8),%rcx
lea -0x1(%rbx),%eax
and $0x1fffffff,%eax
lock cmpxchg %ebx,(%rcx)
jne
mov 0x28(%rsi),%eax
test %eax,%eax
jne
mov %r14,%rbp
shr $0x20,%rbp
mov %r12,%rdx
shr $0x20,%rdx
cmp 0x18(%rsi),%rbp
mov %rcx,0xd0(%rsp)
mov %rdx,0x40(%rsp)
jae
test $0x7ffd0000,%edx
jne
mov 0x18(%r8),%rax
add $0x30,%rax
mov %r12d,%ecx
cmp %rax,%rcx
ja
mov 0x10(%rsi),%rax
lea 0x0(,%rbp,4),%rcx
add %rbp,%rcx
movzbl 0x20(%rax,%rcx,8),%eax
cmp %eax,0x24(%r8)
jne
xor %ecx,%ecx
xor %eax,%eax
bt $0x11,%edx
mov $0x0,%edx
adc $0xffffffff,%edx
mov %rsi,0x60(%rsp)
mov %r8,0x68(%rsp)
mov %r12d,0xa8(%rsp)
mov %rax,0x70(%rsp)
movq $0x0,0xac(%rsp)
movq $0x0,0x90(%rsp)
lea 0x78(%rsp),%rax
xorps %xmm0,%xmm0
movups %xmm0,(%rax)
mov %edx,0x98(%rsp)
movl $0x0,0x9c(%rsp)
movq $0x0,0xa0(%rsp)
test %ecx,%ecx
jne
mov 0x20(%rsi),%rax
mov %rax,%fs:
mov (%rsi),%rax
mov 0x8(%rsi),%rcx
mov 0x10(%rcx),%rdx
dec %rdx
and $0xfffffffffffffff0,%rdx
lea (%rax,%rdx,1),%rdi
add $0x10,%rdi
mov %rbp,%rsi
lea 0x60(%rsp),%rdx
call *0x20(%rcx)
mov %rsi,%rax
cmp $0x7,%rsi
ja
lea (%rip),%rcx
mov %rdx,%rsi
jmp *(%rcx,%rax,8)
mov 0x4c(%rsi),%edx
add $0x7,%edx
and $0xfffffff8,%edx
add 0x50(%rsi),%edx
xor %eax,%eax
ret
mov %rdx,%r14
mov %rax,0x50(%rsp)
mov %rdx,0x58(%rsp)
movq $0x0,0x48(%rsp)
movq $0x0,%fs:
movq $0x0,%fs:
mov %rdx,%r12
cmp $0x1,%rax
jne
mov 0x80(%rsp),%rdi
test %rdi,%rdi
je
xor %ebp,%ebp
mov %r12,%rax
shr $0x20,%rax
mov %eax,0x4(%r13)
mov %r12d,0x8(%r13)
mov (%rip),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%r14d
or %r14d,%ebp
mov %ebp,0xc(%r13)
lea 0x1(,%rbx,8),%edx
xchg %edx,0x0(%r13)
