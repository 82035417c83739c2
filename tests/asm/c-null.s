# gcc 12.2.0, x86_64, -O2; 49 instructions
mov %rsi,%r8
mov %fs:,%rax
mov 0x8(%rdi),%rdx
cmp (%rdx),%rax
jne
btrq $0x0,0x8(%rdx)
jae
cmp (%rdx),%rax
jne
mov 0x10(%rdi),%rsi
mov (%rdi),%r10
mov (%rsi),%rax
movzwl %fs:(%r10),%r10d
mov 0x20(%rsi),%ecx
incl 0x20(%rsi)
movl $0x0,0x4(%rax)
lea 0x8(,%rcx,8),%ecx
movl $0x0,0x8(%rax)
lea 0x2(%rcx),%r11d
mov %r10d,0xc(%rax)
xchg %r11d,(%rax)
lea -0x7(%rcx),%r9d
movl $0x0,(%r8)
movq $0x0,0x10(%r8)
cmp %r9d,%r11d
jne
mov 0x24(%rsi),%r9d
cmp %r10d,%r9d
je
test $0x1f8,%ecx
je
movzwl 0x38(%rsi),%esi
test %esi,%esi
je
movdqa (%rax),%xmm0
movq %xmm0,%rsi
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rax
sub %rcx,%rsi
cmp $0x1,%rsi
ja
shl $0x20,%r9
cmp %rax,%r9
jne
orq $0x1,0x8(%rdx)
mov %fs:,%rax
cmp (%rdx),%rax
jne
ret
