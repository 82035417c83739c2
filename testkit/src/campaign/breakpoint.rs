//! What stops a traced thread at an instruction, and where that thread stands then.

use nix::libc::user_regs_struct;

/// The instruction itself, no longer than any that it takes the place of.
#[cfg(target_arch = "x86_64")]
pub const BREAKPOINT: [u8; 1] = [0xcc];
#[cfg(target_arch = "aarch64")]
pub const BREAKPOINT: [u8; 4] = 0xd420_0000_u32.to_le_bytes();

/// How far behind its beginning who has run into one stands, in bytes.
#[cfg(target_arch = "x86_64")]
pub const STANDS_BEHIND: u64 = 1;
#[cfg(target_arch = "aarch64")]
pub const STANDS_BEHIND: u64 = 0;

/// The address of the instruction that comes next.
pub fn next_instruction(registers: &mut user_regs_struct) -> &mut u64 {
    #[cfg(target_arch = "x86_64")]
    let next = &mut registers.rip;
    #[cfg(target_arch = "aarch64")]
    let next = &mut registers.pc;
    next
}
