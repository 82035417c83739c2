# rustc 1.95.0, x86_64, release profile; 169 instructions
push %rbp
push %r15
push %r14
push %r13
push %r12
push %rbx
sub $0xa8,%rsp
mov %rsi,%r14
mov %rdi,%r13
mov %fs:,%rsi
test %rsi,%rsi
je
mov 0x8(%r14),%r12
mov 0x10(%r14),%r10d
mov (%r14),%rbx
lea 0x40(%rbx),%r14
mov %fs:,%rax
mov 0x100(%rbx),%rcx
mov $0x2,%edx
cmp %rax,%rcx
jne
mov 0x108(%rbx),%esi
test %esi,%esi
jne
movl $0x1,0x108(%rbx)
mov 0x100(%rbx),%rcx
cmp %rax,%rcx
jne
mov 0x10c(%rbx),%ecx
mov 0x40(%rbx),%eax
xor %edx,%edx
test %eax,%eax
jne
jmp
mov %ecx,%r15d
cmp %r15,0x50(%rbx)
mov %r10,(%rsp)
jbe
shl $0x8,%r15
add 0x48(%rbx),%r15
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
mov %r14,0x10(%rsp)
movzwl %ax,%ebp
or %r10d,%ebp
mov (%r15),%rax
movl $0x1,0x4(%rax)
movl $0x8,0x8(%rax)
mov %ebp,0xc(%rax)
mov 0x20(%r15),%r14d
lea 0x1(%r14),%eax
mov %eax,%edx
and $0x1fffffff,%edx
mov %edx,0x20(%r15)
test $0x3f,%al
je
mov %r13,0x8(%rsp)
mov (%r15),%rbx
lea 0x2(,%rdx,8),%eax
xchg %eax,(%rbx)
movzwl %bp,%ebp
lea 0x1(,%r14,8),%ecx
cmp %ecx,%eax
jne
mov 0x24(%r15),%r14d
cmp %r14d,%ebp
je
lea 0x0(,%rdx,8),%r13d
movzwl 0x32(%r15),%eax
movzwl %ax,%esi
mov %rbx,%rdi
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
sub %r13d,%ecx
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
mov 0x8(%rsp),%r13
mov 0x10(%rsp),%r14
shr $0x20,%rax
mov %r14,0x78(%rsp)
mov %r15,0x80(%rsp)
mov %rdx,0x88(%rsp)
movl $0x1,0x90(%rsp)
mov %eax,0x94(%rsp)
mov 0x88(%rsp),%r12
mov 0x94(%rsp),%r8d
test %r8d,%r8d
jne
mov (%r15),%rax
mov 0x10(%rax),%eax
mov %eax,0x34(%rsp)
movb $0x1d,0x30(%rsp)
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
cmpb $0x1d,0x30(%rsp)
jne
mov 0x34(%rsp),%eax
mov %eax,0x78(%rsp)
cmp $0x5,%eax
jne
movb $0x1d,0x0(%r13)
jmp
mov %r13,%rax
add $0xa8,%rsp
pop %rbx
pop %r12
pop %r13
pop %r14
pop %r15
pop %rbp
ret
