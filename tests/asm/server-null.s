# rustc 1.95.0, x86_64, release profile; 155 instructions
lea 0x2(,%r15,8),%eax
cmp %eax,%edx
jne
mov 0x8(%rsp),%rax
mov 0x28(%rax),%eax
test %eax,%eax
jne
mov 0x68(%rsp),%rax
test %rax,%rax
je
cmpq $0x0,0x98(%rsp)
je
mov 0x30(%rsp),%rax
mov (%rax),%rax
mov 0x60(%rax),%rcx
cmp 0xb8(%rsp),%rcx
jne
inc %rbx
mov %rbx,0x68(%rax)
movzwl 0x38(%rsp),%r14d
mov 0x10(%rsp),%rax
inc %eax
mov %rax,0x10(%rsp)
cmp %ebp,%r14d
mov 0x8(%rsp),%rsi
je
mov 0x24(%rsp),%ecx
test %ecx,%ecx
je
cmpl $0x40,0x10(%rsp)
mov 0x18(%rsp),%rbp
je
mov $0x18,%ebx
movzbl (%rip),%eax
cmp $0x2,%al
jne
mov 0x28(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%r12
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rcx
test $0x6,%r12b
je
mov 0xc0(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%r15d
and $0x1fffffff,%r15d
lea 0xa(,%rax,8),%edx
cmp %r12d,%edx
je
mov 0x28(%rsi),%eax
test %eax,%eax
jne
mov 0x30(%rsp),%rax
mov (%rax),%rax
mov 0x68(%rax),%rbx
or $0x1,%rbx
mov %rbx,0x68(%rax)
mov 0x0(%rbp),%r13
mov 0x8(%rbp),%rbp
lea -0x1(%r15),%eax
and $0x1fffffff,%eax
lock cmpxchg %r15d,0x0(%rbp)
jne
mov %r12,%r14
shr $0x20,%r14
mov %rcx,%rax
shr $0x20,%rax
cmp 0x18(%rsi),%r14
mov %rax,0x38(%rsp)
jae
test $0x7ffd0000,%eax
jne
mov 0x18(%rsp),%rdx
mov 0x18(%rdx),%rax
add $0x30,%rax
mov %ecx,%edi
cmp %rax,%rdi
ja
mov 0x10(%rsi),%rax
lea (%r14,%r14,4),%rdi
movzbl 0x20(%rax,%rdi,8),%eax
cmp %eax,0x24(%rdx)
jne
xor %edx,%edx
xor %eax,%eax
btl $0x11,0x38(%rsp)
mov $0x0,%r8d
adc $0xffffffff,%r8d
mov %rsi,0x58(%rsp)
mov %rsi,%rdi
mov 0x18(%rsp),%rsi
mov %rsi,0x60(%rsp)
mov %ecx,0xa0(%rsp)
mov %rax,0x68(%rsp)
movq $0x0,0xa4(%rsp)
movq $0x0,0x88(%rsp)
lea 0x70(%rsp),%rax
xorps %xmm0,%xmm0
movups %xmm0,(%rax)
mov %r8d,0x90(%rsp)
movl $0x0,0x94(%rsp)
movq $0x0,0x98(%rsp)
test %edx,%edx
je
mov 0x20(%rdi),%rax
mov %rax,%fs:
mov (%rdi),%rax
mov 0x8(%rdi),%rcx
mov 0x10(%rcx),%rdx
dec %rdx
and $0xfffffffffffffff0,%rdx
lea (%rax,%rdx,1),%rdi
add $0x10,%rdi
mov %r14,%rsi
lea 0x58(%rsp),%rdx
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
mov %rax,0x48(%rsp)
mov %rdx,0x50(%rsp)
movq $0x0,0x40(%rsp)
movq $0x0,%fs:
movq $0x0,%fs:
cmp $0x1,%rax
je
mov 0x78(%rsp),%rdi
test %rdi,%rdi
je
xor %r14d,%r14d
mov %rdx,%rax
shr $0x20,%rax
mov %eax,0x4(%r13)
mov %edx,0x8(%r13)
mov (%rip),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%ebp
or %ebp,%r14d
mov %r14d,0xc(%r13)
lea 0x1(,%r15,8),%edx
xchg %edx,0x0(%r13)
