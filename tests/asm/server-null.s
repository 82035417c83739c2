# rustc 1.95.0, x86_64, release profile; 129 instructions
lea 0x2(,%rbp,8),%eax
cmp %eax,%edi
jne
mov 0x8(%rsp),%rdi
mov 0x20(%rdi),%eax
test %eax,%eax
mov 0x18(%rsp),%r15
jne
mov 0x20(%rsp),%rax
mov 0x58(%rax),%rax
cmp 0x68(%rsp),%rax
jne
mov 0x48(%rsp),%rcx
inc %rcx
mov 0x20(%rsp),%rax
mov %rcx,0x60(%rax)
movzwl 0x10(%rsp),%r13d
inc %r15d
cmp %r14d,%r13d
je
mov 0x2c(%rsp),%ebx
test %ebx,%ebx
je
cmp $0x40,%r15d
je
mov $0x18,%r14d
mov 0x78(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%rbx
punpckhqdq %xmm0,%xmm0
movq %xmm0,%r12
test $0x6,%bl
je
mov 0x70(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%ebp
and $0x1fffffff,%ebp
lea 0xa(,%rax,8),%ecx
cmp %ebx,%ecx
mov %r15,0x18(%rsp)
je
mov 0x20(%rsp),%rax
mov 0x60(%rax),%rcx
or $0x1,%rcx
mov %rcx,0x48(%rsp)
mov %rcx,0x60(%rax)
mov 0x40(%rsp),%r14
mov (%r14),%r15
mov 0x8(%r14),%rcx
cmp $0x30,%r12d
jbe
lea -0x1(%rbp),%eax
and $0x1fffffff,%eax
lock cmpxchg %ebp,(%rcx)
jne
mov 0x20(%rdi),%eax
test %eax,%eax
jne
mov %rcx,0x58(%rsp)
mov %rbx,%r13
shr $0x20,%r13
mov %r12,%rax
shr $0x20,%rax
cmp 0x10(%rdi),%r13
mov %rax,0x10(%rsp)
jae
test $0x7ffd0000,%eax
jne
cmp %r12d,0x18(%r14)
jb
mov 0x8(%rdi),%rax
lea 0x0(,%r13,4),%rcx
add %r13,%rcx
movzbl 0x20(%rax,%rcx,8),%ecx
mov %r14,%rax
mov %r14,%rdx
mov %rdi,%r14
cmp %ecx,0x24(%rdx)
mov %rdi,0x80(%rsp)
mov %rdx,0x88(%rsp)
mov %r12d,0xd0(%rsp)
movq $0x0,0xd4(%rsp)
movq $0x0,0x90(%rsp)
jne
mov 0x18(%r14),%rcx
mov 0x20(%rax),%eax
mov 0x60(%rsp),%rdx
mov %eax,(%rdx)
mov 0x38(%rsp),%rbx
mov %rcx,(%rbx)
mov (%r14),%rax
mov 0x10(%rax),%rdi
mov 0x18(%rax),%rax
mov %r13,%rsi
lea 0x80(%rsp),%rdx
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
movq $0x0,(%rbx)
mov 0x30(%rsp),%rcx
movq $0x0,(%rcx)
cmp $0x1,%rax
je
testb $0x1,0x90(%rsp)
jne
xor %ebx,%ebx
mov %rdx,%rax
shr $0x20,%rax
mov %eax,0x4(%r15)
mov %edx,0x8(%r15)
mov (%rip),%rax
mov (%rax),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%r14d
or %r14d,%ebx
mov %ebx,0xc(%r15)
lea 0x1(,%rbp,8),%edi
xchg %edi,(%r15)
