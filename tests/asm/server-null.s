# rustc 1.95.0, x86_64, release profile; 122 instructions
lea 0x2(,%rbx,8),%eax
cmp %eax,%edx
jne
mov (%rsp),%rax
mov 0x20(%rax),%eax
test %eax,%eax
jne
mov 0x10(%rsp),%rsi
mov 0x58(%rsi),%rax
cmp 0x40(%rsp),%rax
jne
inc %r15
mov %r15,0x60(%rsi)
movzwl 0x58(%rsp),%ebp
mov 0x18(%rsp),%r15
inc %r15d
cmp %r12d,%ebp
je
mov 0xc(%rsp),%ecx
test %ecx,%ecx
je
cmp $0x40,%r15d
je
mov $0x18,%r14d
mov 0x50(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%r13
punpckhqdq %xmm0,%xmm0
movq %xmm0,%r12
test $0x6,%r13b
je
mov 0x48(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%ebx
and $0x1fffffff,%ebx
lea 0xa(,%rax,8),%ecx
cmp %r13d,%ecx
mov %r15,0x18(%rsp)
je
mov 0x60(%rsi),%r15
or $0x1,%r15
mov %r15,0x60(%rsi)
mov 0x20(%rsp),%rsi
mov (%rsi),%rax
mov %rax,0x28(%rsp)
mov 0x8(%rsi),%rcx
lea -0x1(%rbx),%eax
and $0x1fffffff,%eax
lock cmpxchg %ebx,(%rcx)
mov (%rsp),%rdi
jne
mov 0x20(%rdi),%eax
test %eax,%eax
jne
mov %r13,%rbp
shr $0x20,%rbp
mov %r12,%rax
shr $0x20,%rax
cmp 0x10(%rdi),%rbp
mov %rax,0x58(%rsp)
mov %rcx,0x38(%rsp)
jae
test $0x7ffd0000,%eax
jne
cmp %r12d,0x18(%rsi)
jb
mov 0x8(%rdi),%rax
lea 0x0(,%rbp,4),%rcx
add %rbp,%rcx
movzbl 0x20(%rax,%rcx,8),%eax
mov %rdi,%r14
cmp %eax,0x24(%rsi)
mov %rdi,0x60(%rsp)
mov %rsi,0x68(%rsp)
mov %r12d,0xb0(%rsp)
movq $0x0,0xb4(%rsp)
movq $0x0,0x70(%rsp)
jne
mov 0x18(%r14),%rax
mov %rax,%fs:
mov (%r14),%rax
mov 0x10(%rax),%rdi
mov 0x18(%rax),%rax
mov %rbp,%rsi
lea 0x60(%rsp),%rdx
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
mov %rdx,%r13
movq $0x0,%fs:
movq $0x0,%fs:
mov %rdx,%r12
cmp $0x1,%rax
jne
testb $0x1,0x70(%rsp)
mov 0x20(%rsp),%r14
jne
xor %ebp,%ebp
mov %r12,%rax
shr $0x20,%rax
mov 0x28(%rsp),%rcx
mov %eax,0x4(%rcx)
mov %r12d,0x8(%rcx)
mov (%rip),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%r12d
or %r12d,%ebp
mov 0x28(%rsp),%rax
mov %ebp,0xc(%rax)
lea 0x1(,%rbx,8),%edx
xchg %edx,(%rax)
