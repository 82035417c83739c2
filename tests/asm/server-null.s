# rustc 1.95.0, x86_64, release profile; 115 instructions
lea 0x2(,%r12,8),%eax
cmp %eax,%edi
jne
mov 0x8(%rsp),%rax
mov 0x20(%rax),%eax
test %eax,%eax
mov 0x1c(%rsp),%r14d
jne
shr $0x20,%r15
movzwl %r15w,%ecx
mov (%rsp),%rsi
mov 0x20(%rsp),%rax
mov 0x98(%rax),%rax
cmp 0x68(%rsp),%rax
jne
mov 0x38(%rsp),%rdx
inc %rdx
mov 0x20(%rsp),%rax
mov %rdx,0xa0(%rax)
inc %r14d
cmp %bx,%r15w
je
mov 0x2c(%rsp),%eax
test %eax,%eax
je
cmp $0x40,%r14d
je
mov $0x18,%ebp
mov 0x78(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%rbx
punpckhqdq %xmm0,%xmm0
movq %xmm0,%r15
test $0x6,%bl
je
mov %ecx,0x10(%rsp)
mov 0x70(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%r12d
and $0x1fffffff,%r12d
lea 0xa(,%rax,8),%ecx
cmp %ebx,%ecx
je
mov 0x20(%rsp),%rax
mov 0xa0(%rax),%rcx
or $0x1,%rcx
mov %rcx,0x38(%rsp)
mov %rcx,0xa0(%rax)
mov (%rsi),%rbp
mov 0x8(%rsi),%r13
cmp $0x30,%r15d
jbe
lea -0x1(%r12),%eax
and $0x1fffffff,%eax
lock cmpxchg %r12d,0x0(%r13)
jne
mov 0x8(%rsp),%rax
mov 0x20(%rax),%eax
test %eax,%eax
jne
mov %r13,0x50(%rsp)
mov %r14d,0x1c(%rsp)
mov 0x18(%rsi),%eax
mov %r15,%rcx
movabs $0x7ffd0000ffffffff,%rdx
and %rdx,%rcx
cmp %rax,%rcx
ja
mov %rbx,%r14
shr $0x20,%r14
mov 0x30(%rsi),%rax
cmp %r14,%rax
je
mov 0x8(%rsp),%rdx
mov %rdx,0xb8(%rsp)
mov %rsi,0xc0(%rsp)
mov %r15d,0x108(%rsp)
movq $0x0,0x10c(%rsp)
movq $0x0,0xc8(%rsp)
mov 0x18(%rdx),%rax
mov 0x20(%rsi),%ecx
mov 0x58(%rsp),%rsi
mov %ecx,(%rsi)
mov 0x30(%rsp),%rbx
mov %rax,(%rbx)
mov (%rdx),%rax
mov 0x10(%rax),%rdi
mov 0x18(%rax),%rax
mov %r14,%rsi
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
movq $0x0,(%rbx)
cmp $0x1,%rax
je
mov 0x60(%rsp),%rax
mov (%rax),%ebx
movzwl %bx,%r14d
testb $0x1,0xc8(%rsp)
jne
mov %rdx,%rax
shr $0x20,%rax
mov %eax,0x4(%rbp)
mov %edx,0x8(%rbp)
mov %r14d,0xc(%rbp)
lea 0x1(,%r12,8),%edi
xchg %edi,0x0(%rbp)
