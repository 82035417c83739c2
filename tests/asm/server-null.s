# rustc 1.95.0, x86_64, release profile; 154 instructions
lea 0x2(,%r14,8),%eax
cmp %eax,%edx
jne
mov 0x8(%rsp),%rax
mov 0x28(%rax),%eax
test %eax,%eax
jne
mov 0x70(%rsp),%rax
test %rax,%rax
je
cmpq $0x0,0xa0(%rsp)
je
mov 0x40(%rsp),%rax
mov (%rax),%rax
mov 0xc8(%rax),%rcx
cmp 0xc0(%rsp),%rcx
jne
inc %rbx
mov %rbx,0xd0(%rax)
movzwl 0x28(%rsp),%ebp
cmp %r15d,%ebp
mov 0x14(%rsp),%ecx
je
test %ecx,%ecx
je
inc %r13d
mov %ebp,%r15d
cmp $0x40,%r13d
je
mov $0x18,%ebx
mov %r13,0x38(%rsp)
movzbl (%rip),%eax
cmp $0x2,%al
jne
mov 0x30(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%r12
punpckhqdq %xmm0,%xmm0
movq %xmm0,%r13
test $0x6,%r12b
mov 0x8(%rsp),%rdi
je
mov 0xc8(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%r14d
and $0x1fffffff,%r14d
lea 0xa(,%rax,8),%ecx
cmp %r12d,%ecx
je
mov 0x28(%rdi),%eax
test %eax,%eax
jne
mov 0x40(%rsp),%rax
mov (%rax),%rax
mov 0xd0(%rax),%rbx
or $0x1,%rbx
mov %rbx,0xd0(%rax)
mov 0x20(%rsp),%rax
mov (%rax),%rcx
mov 0x8(%rax),%rdx
lea -0x1(%r14),%eax
and $0x1fffffff,%eax
lock cmpxchg %r14d,(%rdx)
jne
mov %r12,%r15
shr $0x20,%r15
mov %r13,%rax
shr $0x20,%rax
cmp 0x18(%rdi),%r15
mov %rcx,0x18(%rsp)
mov %rax,0x28(%rsp)
mov %rdx,0xd0(%rsp)
jae
test $0x10000,%eax
mov 0x20(%rsp),%rbp
jne
mov 0x18(%rbp),%rax
add $0x30,%rax
mov %r13d,%ecx
cmp %rax,%rcx
ja
mov 0x10(%rdi),%rax
lea (%r15,%r15,4),%rcx
movzbl 0x20(%rax,%rcx,8),%eax
cmp %eax,0x24(%rbp)
jne
btl $0x12,0x28(%rsp)
mov $0x0,%eax
adc $0xffffffff,%eax
mov %rdi,0x60(%rsp)
mov %rbp,0x68(%rsp)
mov %r13d,0xa8(%rsp)
movq $0x0,0xac(%rsp)
movq $0x0,0x90(%rsp)
lea 0x70(%rsp),%rcx
xorps %xmm0,%xmm0
movups %xmm0,(%rcx)
movq $0x0,0x10(%rcx)
mov %eax,0x98(%rsp)
movl $0x0,0x9c(%rsp)
movq $0x0,0xa0(%rsp)
mov 0x38(%rsp),%r13
mov 0x8(%rsp),%rcx
mov 0x20(%rcx),%rax
mov %fs:,%r12
mov %rax,%fs:
mov (%rcx),%rax
mov 0x8(%rcx),%rcx
mov 0x10(%rcx),%rdx
dec %rdx
and $0xfffffffffffffff0,%rdx
lea (%rax,%rdx,1),%rdi
add $0x10,%rdi
mov %r15,%rsi
lea 0x60(%rsp),%rdx
call *0x20(%rcx)
mov %rsi,%rax
cmp $0x6,%rsi
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
mov %rax,0x50(%rsp)
mov %rdx,0x58(%rsp)
movq $0x0,0x48(%rsp)
mov %r12,%fs:
cmp $0x1,%rax
je
mov 0x80(%rsp),%rdi
test %rdi,%rdi
je
xor %ebp,%ebp
mov %rdx,%rax
shr $0x20,%rax
mov 0x18(%rsp),%rcx
mov %eax,0x4(%rcx)
mov %edx,0x8(%rcx)
mov (%rip),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%r15d
or %r15d,%ebp
mov %ebp,0xc(%rcx)
lea 0x1(,%r14,8),%edx
xchg %edx,(%rcx)
