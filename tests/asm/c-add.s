# gcc 12.2.0, x86_64, -O2; 54 instructions
mov %rdi,%r9
mov %rcx,%r10
mov %fs:,%rax
mov 0x8(%rdi),%rcx
cmp (%rcx),%rax
jne
btrq $0x0,0x8(%rcx)
jae
cmp (%rcx),%rax
jne
mov 0x10(%rdi),%rdi
mov (%rdi),%rax
mov %esi,0x10(%rax)
mov %edx,0x14(%rax)
mov (%r9),%rsi
movzwl %fs:(%rsi),%esi
mov 0x20(%rdi),%edx
incl 0x20(%rdi)
movl $0x1,0x4(%rax)
lea 0x8(,%rdx,8),%edx
movl $0x8,0x8(%rax)
lea 0x2(%rdx),%r11d
mov %esi,0xc(%rax)
xchg %r11d,(%rax)
lea -0x7(%rdx),%r8d
movl $0x0,(%r10)
movq $0x0,0x10(%r10)
cmp %r8d,%r11d
jne
mov 0x24(%rdi),%r8d
cmp %esi,%r8d
je
test $0x1f8,%edx
je
movzwl 0x38(%rdi),%esi
test %esi,%esi
je
movdqa (%rax),%xmm0
movq %xmm0,%rdi
punpckhqdq %xmm0,%xmm0
movq %xmm0,%rsi
sub %rdx,%rdi
cmp $0x1,%rdi
ja
lea -0x4(%rsi),%rdx
shl $0x20,%r8
cmp %r8,%rdx
jne
mov 0x10(%rax),%eax
orq $0x1,0x8(%rcx)
mov %fs:,%rdx
cmp (%rcx),%rdx
jne
ret
