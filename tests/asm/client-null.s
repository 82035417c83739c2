# rustc 1.95.0, x86_64, release profile; 185 instructions
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
sub $0xe8,%rsp
mov %rdi,%rbp
mov (%rsi),%rbx
mov 0x8(%rsi),%r12
lea 0x40(%rbx),%r14
mov %fs:,%rax
mov 0x40(%rbx),%rcx
mov $0x2,%edx
cmp %rax,%rcx
jne
mov 0x48(%rbx),%esi
test %esi,%esi
jne
movl $0x1,0x48(%rbx)
mov 0x40(%rbx),%rcx
cmp %rax,%rcx
jne
mov 0x4c(%rbx),%ecx
mov 0xf34(%rbx),%eax
xor %edx,%edx
test %eax,%eax
jne
jmp
mov 0x488(%rbx),%rsi
cmp %esi,%ecx
jae
mov %ecx,%r15d
cmp %r15,%rsi
jbe
shl $0x7,%r15
add 0x480(%rbx),%r15
mov %r14,0x8(%rsp)
mov %r14,0x68(%rsp)
mov %r15,0x70(%rsp)
mov %r12,0x78(%rsp)
xorps %xmm0,%xmm0
movups %xmm0,0x80(%rsp)
mov (%rip),%rdx
test $0x1,%dl
jne
add $0x4,%rdx
mov %fs:(%rdx),%eax
test %eax,%eax
jns
mov %r12,0x60(%rsp)
movzwl %ax,%r14d
mov (%r15),%rax
movl $0x0,0x4(%rax)
movl $0x0,0x8(%rax)
mov %r14d,0xc(%rax)
lea 0x40(%rbx),%rax
mov %rax,0xb8(%rsp)
mov %r15,0xc0(%rsp)
mov 0x20(%r15),%r13d
lea 0x1(%r13),%r12d
and $0x1fffffff,%r12d
mov %r12d,0x20(%r15)
mov (%r15),%rcx
lea 0xa(,%r13,8),%eax
mov %rcx,0x10(%rsp)
xchg %eax,(%rcx)
lea 0x0(,%r13,8),%ecx
mov %eax,%edx
and $0xfffffffe,%edx
cmp %ecx,%edx
mov %rbp,0x18(%rsp)
jne
cmp %ecx,%eax
je
mov 0x24(%r15),%ebp
cmp %ebp,%r14d
je
lea 0x8(,%r13,8),%r13d
mov 0xf30(%rbx),%esi
mov 0x10(%rsp),%rdi
mov %r12d,%edx
call nearcall::raw::call::poll_for_a_while
push %rbp
push %r14
push %rbx
mov %edx,%ebx
test %esi,%esi
je
shl $0x3,%ebx
mov (%rip),%rax
test %rax,%rax
je
test $0x4000,%eax
je
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
sub %r13d,%ecx
cmp $0x2,%ecx
jae
mov %rdx,%r12
mov 0x8(%rsp),%rbx
mov %rbx,0x20(%rsp)
mov %r15,0x28(%rsp)
mov %rdx,%rcx
shr $0x20,%rcx
movzwl %cx,%edx
mov %edx,0x24(%r15)
mov %rax,%rbp
shr $0x20,%rbp
mov %rax,%rdx
shr $0x30,%rdx
jne
and $0x10000,%ecx
jne
mov 0x18(%r15),%rcx
add $0x30,%rcx
mov %r12d,%edx
cmp %rcx,%rdx
ja
xor %r13d,%r13d
mov 0x80(%rsp),%rax
test %rax,%rax
je
test %rbx,%rbx
je
mov %rbx,0x90(%rsp)
mov %r15,0x98(%rsp)
mov %r13,0xa0(%rsp)
movl $0x0,0xa8(%rsp)
mov %ebp,0xac(%rsp)
mov %r12d,0xb0(%rsp)
test %ebp,%ebp
jne
mov 0x18(%rsp),%rbx
movb $0x1c,(%rbx)
lea 0x90(%rsp),%rdi
call core::ptr::drop_in_place<nearcall::raw::reply::Reply
push %r14
push %rbx
push %rax
mov %rdi,%rbx
mov (%rdi),%rdi
mov 0x8(%rbx),%rax
movzbl 0x30(%rax),%ecx
test %cl,%cl
je
mov 0x2c(%rax),%eax
cmp $0xf,%rax
ja
shl $0x6,%rax
mov %fs:,%rcx
movl $0x0,0x8(%rdi,%rax,1)
mov (%rdi,%rax,1),%rdx
cmp %rcx,%rdx
je
mov 0x10(%rbx),%rax
test %rax,%rax
je
add $0x8,%rsp
pop %rbx
pop %r14
ret
jmp
mov %rbx,%rax
add $0xe8,%rsp
pop %rbx
pop %r12
pop %r13
pop %r14
pop %r15
pop %rbp
ret
