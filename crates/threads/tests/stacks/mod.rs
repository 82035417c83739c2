//! How many stacks there can be at once.

/// `wanted`, or as many as three tests of a process may have beside each other where each takes two
/// of the 65,530 mappings that the process has by default: before Linux 6.13.
pub fn at_most(wanted: u32) -> u32 {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a kernel");
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse().ok());
    let version: (Option<u32>, Option<u32>) = (numbers.next(), numbers.next());
    let is_in_page_table = version >= (Some(6), Some(13));
    if is_in_page_table { wanted } else { wanted.min(10_000) }
}
