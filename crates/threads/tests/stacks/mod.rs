//! How many stacks there can be at once.

/// `wanted`, or as many as three tests of a process may have beside each other where each takes two
/// of the 65,530 mappings that the process has by default: before Linux 6.13.
pub fn at_most(wanted: u32) -> u32 {
    if !lacking::kernel_is_before(6, 13) {
        return wanted;
    }
    lacking::lacking("guards of stacks in the page table, of Linux 6.13");
    wanted.min(10_000)
}
