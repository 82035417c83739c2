# rustc 1.95.0, x86_64, release profile; 130 instructions
lea 0x2(,%r13,8),%eax
cmp %eax,%edi
jne
mov 0x8(%rsp),%rax
mov 0x20(%rax),%eax
test %eax,%eax
jne
mov 0x18(%rsp),%rax
mov 0x58(%rax),%rax
cmp 0x58(%rsp),%rax
jne
mov 0x40(%rsp),%rcx
inc %rcx
mov 0x18(%rsp),%rax
mov %rcx,0x60(%rax)
shr $0x20,%rbx
movzwl %bx,%r14d
mov 0x10(%rsp),%rbx
inc %ebx
cmp %r15d,%r14d
je
mov 0x24(%rsp),%ebp
test %ebp,%ebp
je
cmp $0x40,%ebx
je
mov %rbx,0x10(%rsp)
mov $0x18,%ebp
mov 0x68(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%r15
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rbx
test $0x6,%r15b
je
mov 0x60(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%r13d
and $0x1fffffff,%r13d
lea 0xa(,%rax,8),%ecx
cmp %r15d,%ecx
je
mov 0x18(%rsp),%rax
mov 0x60(%rax),%rcx
or $0x1,%rcx
mov %rcx,0x40(%rsp)
mov %rcx,0x60(%rax)
mov (%rsp),%rax
mov (%rax),%rbp
mov 0x8(%rax),%rcx
cmp $0x30,%ebx
mov %rcx,0x38(%rsp)
jbe
lea -0x1(%r13),%eax
and $0x1fffffff,%eax
lock cmpxchg %r13d,(%rcx)
jne
mov 0x8(%rsp),%rdi
mov 0x20(%rdi),%eax
test %eax,%eax
jne
mov %r15,%r12
shr $0x20,%r12
cmp 0x10(%rdi),%r12
jae
movabs $0x7ffd000000000000,%rax
test %rax,%rbx
jne
mov (%rsp),%rax
cmp %ebx,0x18(%rax)
mov 0x8(%rsp),%rdi
jb
mov %rdi,%r14
mov 0x8(%rdi),%rax
lea (%r12,%r12,4),%rcx
movzbl 0x20(%rax,%rcx,8),%ecx
mov (%rsp),%rax
mov 0x24(%rax),%edx
mov %rdi,0x70(%rsp)
mov %rax,0x78(%rsp)
mov %ebx,0xc0(%rsp)
movq $0x0,0xc4(%rsp)
movq $0x0,0x80(%rsp)
cmp %ecx,%edx
je
mov 0x18(%r14),%rcx
mov 0x20(%rax),%eax
mov 0x50(%rsp),%rdx
mov %eax,(%rdx)
mov 0x30(%rsp),%r15
mov %rcx,(%r15)
mov (%r14),%rax
mov 0x10(%rax),%rdi
mov 0x18(%rax),%rax
mov %r12,%rsi
lea 0x70(%rsp),%rdx
call *0x20(%rax)
mov %rsi,%rax
cmp $0x8,%rsi
ja
lea (%rip),%rcx
mov %rdx,%rsi
jmp *(%rcx,%rax,8)
mov 0x58(%rsi),%edx
xor %eax,%eax
ret
movq $0x0,(%r15)
mov 0x28(%rsp),%rcx
movq $0x0,(%rcx)
cmp $0x1,%rax
je
testb $0x1,0x80(%rsp)
jne
xor %r14d,%r14d
mov %rdx,%rax
shr $0x20,%rax
mov %eax,0x4(%rbp)
mov %edx,0x8(%rbp)
mov (%rip),%rax
mov (%rax),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%r15d
or %r15d,%r14d
mov %r14d,0xc(%rbp)
lea 0x1(,%r13,8),%edi
xchg %edi,0x0(%rbp)
