# rustc 1.95.0, x86_64, release profile; 130 instructions
lea 0x2(,%rbx,8),%eax
cmp %eax,%edi
jne
mov 0x8(%rsp),%rdi
mov 0x20(%rdi),%eax
test %eax,%eax
mov 0x18(%rsp),%r15
jne
mov 0x20(%rsp),%rax
mov 0x58(%rax),%rax
cmp 0x60(%rsp),%rax
je
mov 0x48(%rsp),%rdx
inc %rdx
mov 0x20(%rsp),%rax
mov %rdx,0x60(%rax)
movzwl 0x10(%rsp),%r13d
inc %r15d
cmp %r14d,%r13d
je
mov 0x2c(%rsp),%ebx
test %ebx,%ebx
je
cmp $0x40,%r15d
je
mov $0x18,%r14d
mov 0x78(%rsp),%rax
movdqa (%rax),%xmm0
movq %xmm0,%rbp
punpckhqdq %xmm0,%xmm0
movq %xmm0,%r12
test $0x6,%bpl
je
mov 0x70(%rsp),%rax
mov (%rax),%eax
lea 0x1(%rax),%ebx
and $0x1fffffff,%ebx
lea 0xa(,%rax,8),%ecx
cmp %ebp,%ecx
mov %r15,0x18(%rsp)
je
mov 0x20(%rsp),%rax
mov 0x60(%rax),%rcx
or $0x1,%rcx
mov %rcx,0x48(%rsp)
mov %rcx,0x60(%rax)
mov 0x40(%rsp),%r14
mov (%r14),%r15
mov 0x8(%r14),%rcx
cmp $0x30,%r12d
jbe
lea -0x1(%rbx),%eax
and $0x1fffffff,%eax
lock cmpxchg %ebx,(%rcx)
jne
mov 0x20(%rdi),%eax
test %eax,%eax
jne
mov %rcx,0x58(%rsp)
mov %rbp,%r13
shr $0x20,%r13
mov %r12,%rax
shr $0x20,%rax
cmp 0x10(%rdi),%r13
mov %rax,0x10(%rsp)
jae
test $0x7ffd0000,%eax
jne
cmp %r12d,0x18(%r14)
jb
mov 0x8(%rdi),%rax
lea 0x0(,%r13,4),%rcx
add %r13,%rcx
movzbl 0x20(%rax,%rcx,8),%ecx
mov %r14,%rax
mov %r14,%rdx
mov %rdi,%r14
cmp %ecx,0x24(%rdx)
mov %rdi,0xb8(%rsp)
mov %rdx,0xc0(%rsp)
mov %r12d,0x108(%rsp)
movq $0x0,0x10c(%rsp)
movq $0x0,0xc8(%rsp)
jne
mov 0x18(%r14),%rcx
mov 0x20(%rax),%eax
mov 0x68(%rsp),%rdx
mov %eax,(%rdx)
mov 0x38(%rsp),%rbp
mov %rcx,0x0(%rbp)
mov (%r14),%rax
mov 0x10(%rax),%rdi
mov 0x18(%rax),%rax
mov %r13,%rsi
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
mov %rdx,%r12
movq $0x0,0x0(%rbp)
mov 0x30(%rsp),%rcx
movq $0x0,(%rcx)
cmp $0x1,%rax
jne
testb $0x1,0xc8(%rsp)
jne
xor %ebp,%ebp
mov %r12,%rax
shr $0x20,%rax
mov %eax,0x4(%r15)
mov %r12d,0x8(%r15)
mov (%rip),%rax
mov (%rax),%rdx
test $0x1,%dl
jne
mov %fs:(%rdx),%eax
test %eax,%eax
jns
movzwl %ax,%r14d
or %r14d,%ebp
mov %ebp,0xc(%r15)
lea 0x1(,%rbx,8),%edi
xchg %edi,(%r15)
