# rustc 1.95.0, x86_64, release profile; 143 instructions
lea 0x2(,%rbx,8),%eax
cmp %eax,%edx
jne
mov 0x8(%rsp),%rax
mov 0x28(%rax),%eax
test %eax,%eax
jne
mov 0x58(%rsp),%rax
test %rax,%rax
je
mov 0x28(%rsp),%rax
mov (%rax),%rax
mov 0xa8(%rax),%rcx
cmp 0x90(%rsp),%rcx
jne
inc %rbp
mov %rbp,0xb0(%rax)
movzwl 0xa8(%rsp),%r13d
cmp %r14d,%r13d
mov 0x14(%rsp),%esi
mov 0xb0(%rsp),%rdx
je
test %esi,%esi
je
inc %edx
mov %r13d,%r14d
cmp $0x40,%edx
je
mov %rdx,0xb0(%rsp)
mov $0x18,%ebp
movzbl (%rip),%eax
cmp $0x2,%al
jne
mov 0x20(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%r15
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rcx
test $0x6,%r15b
mov 0x8(%rsp),%rdi
je
mov 0x98(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%ebx
and $0x1fffffff,%ebx
lea 0xa(,%rax,8),%edx
cmp %r15d,%edx
je
mov 0x28(%rdi),%eax
test %eax,%eax
jne
mov 0x28(%rsp),%rax
mov (%rax),%rax
mov 0xb0(%rax),%rbp
or $0x1,%rbp
mov %rbp,0xb0(%rax)
mov 0x18(%rsp),%rax
mov (%rax),%r12
mov 0x8(%rax),%rdx
lea -0x1(%rbx),%eax
and $0x1fffffff,%eax
lock cmpxchg %ebx,(%rdx)
jne
mov %r15,%r14
shr $0x20,%r14
mov %rcx,%rax
shr $0x20,%rax
cmp 0x18(%rdi),%r14
mov %rax,0xa8(%rsp)
mov %rdx,0xa0(%rsp)
jae
test $0x10000,%eax
mov 0x18(%rsp),%r13
jne
mov 0x18(%r13),%rax
add $0x30,%rax
mov %ecx,%esi
cmp %rax,%rsi
ja
mov 0x10(%rdi),%rax
lea (%r14,%r14,4),%rsi
movzbl 0x20(%rax,%rsi,8),%eax
cmp %eax,0x24(%r13)
jne
mov %rdi,0x48(%rsp)
mov %r13,0x50(%rsp)
mov %ecx,0x78(%rsp)
movq $0x0,0x7c(%rsp)
lea 0x58(%rsp),%rax
xorps %xmm0,%xmm0
movups %xmm0,(%rax)
movq $0x0,0x10(%rax)
mov 0x20(%rdi),%rax
mov %fs:,%r15
mov %rax,%fs:
mov (%rdi),%rax
mov 0x8(%rdi),%rcx
mov 0x10(%rcx),%rdx
dec %rdx
and $0xfffffffffffffff0,%rdx
lea (%rax,%rdx,1),%rdi
add $0x10,%rdi
mov %r14,%rsi
lea 0x48(%rsp),%rdx
mov %r12,%r13
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
mov %rax,0x38(%rsp)
mov %rdx,0x40(%rsp)
movq $0x0,0x30(%rsp)
mov %r15,%fs:
cmp $0x1,%rax
je
mov 0x68(%rsp),%rdi
test %rdi,%rdi
je
xor %r15d,%r15d
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
movzwl %ax,%r14d
or %r14d,%r15d
mov %r15d,0xc(%r13)
lea 0x1(,%rbx,8),%edx
xchg %edx,0x0(%r13)
