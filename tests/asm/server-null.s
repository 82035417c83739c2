# rustc 1.95.0, x86_64, release profile; 127 instructions
lea 0x2(,%rbx,8),%eax
cmp %eax,%edi
mov 0x18(%rsp),%rsi
jne
mov 0x20(%rsi),%eax
test %eax,%eax
jne
mov (%rsp),%rax
mov 0x20(%rsp),%rcx
mov 0x58(%rcx),%rcx
cmp 0x40(%rsp),%rcx
jne
mov 0x30(%rsp),%rdx
inc %rdx
mov 0x20(%rsp),%rcx
mov %rdx,0x60(%rcx)
movzwl 0x58(%rsp),%ebp
inc %eax
cmp %r15d,%ebp
je
mov 0x2c(%rsp),%edx
test %edx,%edx
je
cmp $0x40,%eax
je
mov %rax,(%rsp)
mov $0x18,%r14d
mov 0x50(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%r15
punpckhqdq %xmm0,%xmm0
movq %xmm0,%r13
test $0x6,%r15b
je
mov 0x48(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%ebx
and $0x1fffffff,%ebx
lea 0xa(,%rax,8),%ecx
cmp %r15d,%ecx
je
mov 0x20(%rsp),%rax
mov 0x60(%rax),%rcx
or $0x1,%rcx
mov %rcx,0x30(%rsp)
mov %rcx,0x60(%rax)
mov (%r12),%rax
mov %rax,0x10(%rsp)
mov 0x8(%r12),%r14
cmp $0x30,%r13d
jbe
lea -0x1(%rbx),%eax
and $0x1fffffff,%eax
lock cmpxchg %ebx,(%r14)
jne
mov 0x18(%rsp),%rdi
mov 0x20(%rdi),%eax
test %eax,%eax
jne
mov %r15,%rbp
shr $0x20,%rbp
mov %r13,%rax
shr $0x20,%rax
cmp 0x10(%rdi),%rbp
mov %rax,0x58(%rsp)
jae
test $0x7ffd0000,%eax
jne
cmp %r13d,0x18(%r12)
jb
mov 0x18(%rsp),%rdx
mov 0x8(%rdx),%rax
lea 0x0(,%rbp,4),%rcx
add %rbp,%rcx
movzbl 0x20(%rax,%rcx,8),%eax
mov %r12,%rcx
mov %rdx,%r12
cmp %eax,0x24(%rcx)
mov %rdx,0x60(%rsp)
mov %rcx,0x68(%rsp)
mov %r13d,0xb0(%rsp)
movq $0x0,0xb4(%rsp)
movq $0x0,0x70(%rsp)
jne
mov 0x18(%r12),%rax
mov %rax,%fs:
mov (%r12),%rax
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
mov %rdx,%r15
cmp $0x1,%rax
jne
testb $0x1,0x70(%rsp)
mov 0x8(%rsp),%r12
jne
xor %ebp,%ebp
mov 0x10(%rsp),%r14
mov %r15,%rax
shr $0x20,%rax
mov %eax,0x4(%r14)
mov %r15d,0x8(%r14)
mov (%rip),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%r15d
or %r15d,%ebp
mov %ebp,0xc(%r14)
lea 0x1(,%rbx,8),%edi
xchg %edi,(%r14)
