# rustc 1.95.0, x86_64, release profile; 116 instructions
lea 0x2(,%r12,8),%eax
cmp %eax,%edi
mov 0x58(%rsp),%r13
jne
mov 0x8(%rsp),%rax
mov 0x20(%rax),%eax
test %eax,%eax
mov 0x10(%rsp),%ebp
jne
shr $0x20,%rbx
mov 0x18(%rsp),%rax
mov 0x98(%rax),%rax
cmp 0x68(%rsp),%rax
jne
mov 0x30(%rsp),%rcx
inc %rcx
mov 0x18(%rsp),%rax
mov %rcx,0xa0(%rax)
movzwl %bx,%ecx
inc %ebp
cmp %r15w,%bx
je
mov 0x24(%rsp),%r15d
test %r15d,%r15d
je
cmp $0x40,%ebp
je
mov %ebp,0x10(%rsp)
mov $0x18,%ebp
mov 0x78(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%r14
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rbx
test $0x6,%r14b
je
mov %ecx,0x14(%rsp)
mov 0x70(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%r12d
and $0x1fffffff,%r12d
lea 0xa(,%rax,8),%ecx
cmp %r14d,%ecx
je
mov 0x18(%rsp),%rax
mov 0xa0(%rax),%rcx
or $0x1,%rcx
mov %rcx,0x30(%rsp)
mov %rcx,0xa0(%rax)
mov 0x0(%r13),%rbp
mov 0x8(%r13),%r15
cmp $0x30,%ebx
jbe
lea -0x1(%r12),%eax
and $0x1fffffff,%eax
lock cmpxchg %r12d,(%r15)
jne
mov 0x8(%rsp),%rax
mov 0x20(%rax),%eax
test %eax,%eax
jne
mov %r15,0x48(%rsp)
mov 0x18(%r13),%eax
mov %rbx,%rcx
movabs $0x7ffd0000ffffffff,%rdx
and %rdx,%rcx
cmp %rax,%rcx
ja
mov %r14,%r15
shr $0x20,%r15
mov 0x30(%r13),%rax
cmp %r15,%rax
je
mov 0x8(%rsp),%rdx
mov %rdx,0xb8(%rsp)
mov %r13,0xc0(%rsp)
mov %ebx,0x108(%rsp)
movq $0x0,0x10c(%rsp)
movq $0x0,0xc8(%rsp)
mov 0x18(%rdx),%rax
mov 0x20(%r13),%ecx
mov 0x50(%rsp),%rsi
mov %ecx,(%rsi)
mov 0x28(%rsp),%r13
mov %rax,0x0(%r13)
mov (%rdx),%rax
mov 0x10(%rax),%rdi
mov 0x18(%rax),%rax
mov %r15,%rsi
lea 0xb8(%rsp),%rdx
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
mov %rdx,%r14
movq $0x0,0x0(%r13)
cmp $0x1,%rax
je
mov 0x60(%rsp),%rax
mov (%rax),%r15d
movzwl %r15w,%r13d
testb $0x1,0xc8(%rsp)
jne
mov %r14,%rax
shr $0x20,%rax
mov %eax,0x4(%rbp)
mov %r14d,0x8(%rbp)
mov %r13d,0xc(%rbp)
lea 0x1(,%r12,8),%edi
xchg %edi,0x0(%rbp)
