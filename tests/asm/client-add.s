# rustc 1.95.0, x86_64, release profile; 190 instructions
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
sub $0xe8,%rsp
mov %rdi,%r13
mov (%rsi),%rbx
mov 0x8(%rsi),%r14
lea 0x40(%rbx),%r12
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
mov (%r15),%rax
movl $0x2,0x10(%rax)
mov (%r15),%rax
movl $0x3,0x14(%rax)
mov %r12,0x30(%rsp)
mov %r15,0x38(%rsp)
mov %r14,0x40(%rsp)
movq $0x0,0x48(%rsp)
movq $0x1,0x50(%rsp)
mov (%rip),%rdx
test $0x1,%dl
jne
add $0x4,%rdx
mov %fs:(%rdx),%eax
test %eax,%eax
jns
mov %r14,0xa8(%rsp)
movzwl %ax,%r14d
mov (%r15),%rax
movl $0x1,0x4(%rax)
movl $0x8,0x8(%rax)
mov %r14d,0xc(%rax)
mov %r12,0x18(%rsp)
mov %r12,0xd8(%rsp)
mov %r15,0xe0(%rsp)
mov 0x20(%r15),%r12d
lea 0x1(%r12),%ebp
and $0x1fffffff,%ebp
mov %ebp,0x20(%r15)
mov (%r15),%rcx
lea 0xa(,%r12,8),%eax
mov %rcx,0x28(%rsp)
xchg %eax,(%rcx)
lea 0x0(,%r12,8),%ecx
mov %eax,%edx
and $0xfffffffe,%edx
cmp %ecx,%edx
jne
mov %r13,0x20(%rsp)
cmp %ecx,%eax
je
mov 0x24(%r15),%r13d
cmp %r13d,%r14d
je
lea 0x8(,%r12,8),%r12d
mov 0xf30(%rbx),%esi
mov 0x28(%rsp),%rdi
mov %ebp,%edx
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
sub %r12d,%ecx
cmp $0x2,%ecx
jae
mov 0x18(%rsp),%rbp
mov %rbp,0x8(%rsp)
mov %r15,0x10(%rsp)
mov %rdx,%rcx
shr $0x20,%rcx
movzwl %cx,%esi
mov %esi,0x24(%r15)
mov %rax,%rbx
shr $0x20,%rbx
mov %rax,%rsi
shr $0x30,%rsi
jne
and $0x10000,%ecx
jne
mov 0x18(%r15),%rcx
add $0x30,%rcx
mov %edx,%esi
cmp %rcx,%rsi
ja
xor %r12d,%r12d
mov 0x20(%rsp),%r13
test %rbp,%rbp
je
mov %rbp,0xb0(%rsp)
mov %r15,0xb8(%rsp)
mov %r12,0xc0(%rsp)
movl $0x1,0xc8(%rsp)
mov %ebx,0xcc(%rsp)
mov %edx,0xd0(%rsp)
test %ebx,%ebx
jne
mov (%r15),%rax
mov 0x10(%rax),%ebx
lea 0xb0(%rsp),%rdi
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
mov %ebx,0x68(%rsp)
cmp $0x5,%ebx
jne
movb $0x1c,0x0(%r13)
jmp
mov %r13,%rax
add $0xe8,%rsp
pop %rbx
pop %r12
pop %r13
pop %r14
pop %r15
pop %rbp
ret
