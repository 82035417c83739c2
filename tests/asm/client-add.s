# rustc 1.95.0, x86_64, release profile; 155 instructions
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
sub $0x98,%rsp
mov %rdi,%rbx
mov (%rsi),%r13
mov 0x8(%rsi),%r15
lea 0x40(%r13),%r14
mov %fs:,%rax
mov 0x100(%r13),%rcx
mov $0x2,%edx
cmp %rax,%rcx
jne
mov 0x108(%r13),%esi
test %esi,%esi
jne
movl $0x1,0x108(%r13)
mov 0x100(%r13),%rcx
cmp %rax,%rcx
jne
mov 0x10c(%r13),%ecx
mov 0x40(%r13),%eax
xor %edx,%edx
test %eax,%eax
jne
jmp
mov %r15,0x90(%rsp)
mov %ecx,%r15d
cmp %r15,0x50(%r13)
jbe
shl $0x7,%r15
add 0x48(%r13),%r15
mov (%r15),%rax
movl $0x2,0x10(%rax)
mov (%r15),%rax
movl $0x3,0x14(%rax)
mov (%rip),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
mov %rbx,0x10(%rsp)
movzwl %ax,%ebp
mov (%r15),%rax
movl $0x1,0x4(%rax)
movl $0x8,0x8(%rax)
mov %ebp,0xc(%rax)
mov 0x20(%r15),%r12d
lea 0x1(%r12),%edx
and $0x1fffffff,%edx
mov %edx,0x20(%r15)
mov (%r15),%rdi
lea 0xa(,%r12,8),%eax
xchg %eax,(%rdi)
lea 0x1(,%r12,8),%ecx
cmp %ecx,%eax
jne
mov 0x24(%r15),%ebx
cmp %ebx,%ebp
je
lea 0x8(,%r12,8),%r12d
mov 0x44(%r13),%esi
call nearcall::raw::call::poll_for_a_while
push %rbp
push %r14
push %rbx
mov %edx,%ebx
test %esi,%esi
je
shl $0x3,%ebx
movzbl (%rip),%eax
cmp $0x2,%al
jne
movdqa (%rdi),%xmm0
movq %xmm0,%rax
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rdx
mov %eax,%ecx
sub %ebx,%ecx
and $0xfffffffe,%ecx
cmp $0x2,%ecx
jne
pop %rbx
pop %r14
pop %rbp
ret
mov %eax,%ecx
sub %r12d,%ecx
cmp $0x1,%ecx
ja
mov %rdx,%r8
mov %rdx,%rcx
shr $0x20,%rcx
movzwl %cx,%edx
mov %edx,0x24(%r15)
mov %rax,%rdx
shr $0x30,%rdx
jne
and $0x10000,%ecx
jne
mov 0x18(%r15),%rcx
add $0x30,%rcx
mov %r8d,%edx
cmp %rcx,%rdx
ja
xor %edx,%edx
shr $0x20,%rax
mov %r14,0x60(%rsp)
mov %r15,0x68(%rsp)
mov %rdx,0x70(%rsp)
movl $0x1,0x78(%rsp)
mov %eax,0x7c(%rsp)
mov 0x10(%rsp),%rbx
mov 0x70(%rsp),%r12
mov 0x7c(%rsp),%r8d
test %r8d,%r8d
jne
mov (%r15),%rax
mov 0x10(%rax),%eax
mov %eax,0x24(%rsp)
movb $0x1d,0x20(%rsp)
movzbl 0x30(%r15),%eax
test %al,%al
je
mov 0x2c(%r15),%eax
and $0xf,%eax
shl $0x6,%eax
mov %fs:,%rcx
movl $0x0,0xc8(%r14,%rax,1)
mov 0xc0(%r14,%rax,1),%rax
cmp %rcx,%rax
jne
test %r12,%r12
je
cmpb $0x1d,0x20(%rsp)
jne
mov 0x24(%rsp),%eax
mov %eax,0x60(%rsp)
cmp $0x5,%eax
jne
movb $0x1d,(%rbx)
jmp
mov %rbx,%rax
add $0x98,%rsp
pop %rbx
pop %r12
pop %r13
pop %r14
pop %r15
pop %rbp
ret
