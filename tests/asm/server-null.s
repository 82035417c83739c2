# rustc 1.95.0, x86_64, release profile; 150 instructions
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
sub $0xc8,%rsp
mov %rdx,%r13
mov %rsi,0x10(%rsp)
mov (%rdx),%rax
mov %rax,0x38(%rsp)
mov 0x8(%rdx),%rax
mov %rax,0xb8(%rsp)
mov 0x28(%rdi),%rax
mov %rax,0xb0(%rsp)
mov 0x38(%rdi),%rax
mov %rax,0xa8(%rsp)
mov 0x98(%rdi),%eax
mov %eax,0x2c(%rsp)
xor %r15d,%r15d
xor %ebx,%ebx
xor %r14d,%r14d
mov %rdx,0x20(%rsp)
nopl 0x0(%rax)
mov (%rip),%rax
test %rax,%rax
mov %ebx,0x28(%rsp)
je
test $0x4000,%eax
je
mov 0x38(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%rbx
punpckhqdq %xmm0,%xmm0
movq %xmm0,%r12
test $0x6,%bl
je
mov 0xb8(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%ebp
and $0x1fffffff,%ebp
lea 0xa(,%rax,8),%ecx
cmp %ebx,%ecx
je
mov 0x10(%rsp),%rax
mov 0xa18(%rax),%eax
test %eax,%eax
jne
mov %r15,0xc0(%rsp)
mov 0xb0(%rsp),%rax
mov (%rax),%rcx
mov %r13,%rax
mov 0xb0(%rcx),%r13
or $0x1,%r13
mov %r13,0xb0(%rcx)
mov (%rax),%rsi
mov 0x8(%rax),%rdi
lea -0x1(%rbp),%eax
and $0x1fffffff,%eax
lock cmpxchg %ebp,(%rdi)
sete %dl
jne
mov %rsi,0x18(%rsp)
mov %dl,0xf(%rsp)
mov %rcx,0xa0(%rsp)
mov %rbx,%r15
shr $0x20,%r15
mov %r12,%rcx
shr $0x20,%rcx
mov 0x10(%rsp),%rax
cmp 0xe0(%rax),%r15
mov %rcx,0x30(%rsp)
mov %rdi,0x98(%rsp)
jae
test $0x10000,%ecx
jne
mov 0x20(%rsp),%rdx
mov 0x18(%rdx),%rax
add $0x30,%rax
mov %r12d,%ecx
cmp %rax,%rcx
ja
mov 0x10(%rsp),%r14
mov 0xd8(%r14),%rax
lea (%r15,%r15,4),%rcx
movzbl 0x20(%rax,%rcx,8),%eax
cmp %eax,0x24(%rdx)
jne
mov %r14,0x58(%rsp)
mov %rdx,0x60(%rsp)
mov %r12d,0x88(%rsp)
movq $0x0,0x8c(%rsp)
lea 0x68(%rsp),%rax
xorps %xmm0,%xmm0
movups %xmm0,(%rax)
movq $0x0,0x10(%rax)
mov 0xe8(%r14),%rax
mov %fs:,%rbx
mov %rax,%fs:
mov 0xb8(%r14),%rax
mov 0xc0(%r14),%rcx
mov 0x10(%rcx),%rdx
dec %rdx
and $0xfffffffffffffff0,%rdx
lea (%rax,%rdx,1),%rdi
add $0x10,%rdi
mov %r15,%rsi
lea 0x58(%rsp),%rdx
mov 0x30(%rsp),%r12
call *0x20(%rcx)
mov %rsi,%rax
cmp $0x6,%rsi
ja
lea (%rip),%rcx
mov %rdx,%rsi
jmp *(%rcx,%rax,8)
mov 0x34(%rsi),%edx
add $0x7,%edx
and $0xfffffff8,%edx
add 0x38(%rsi),%edx
xor %eax,%eax
ret
mov %rax,0x48(%rsp)
mov %rdx,0x50(%rsp)
movq $0x0,0x40(%rsp)
mov %rbx,%fs:
cmp $0x1,%rax
je
mov 0x78(%rsp),%rdi
test %rdi,%rdi
je
xor %ebx,%ebx
mov 0x10(%rsp),%r14
mov 0x18(%rsp),%r15
mov %rdx,%rax
shr $0x20,%rax
mov %eax,0x4(%r15)
mov %edx,0x8(%r15)
mov (%rip),%rdx
test $0x1,%dl
jne
add $0x4,%rdx
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%eax
or %ebx,%eax
mov %eax,0xc(%r15)
lea 0x1(,%rbp,8),%edx
xchg %edx,(%r15)
