//! Which kernel this is: what some do not have, no test can see there.

/// Whether this kernel is older than this version.
pub fn is_before(major: u32, minor: u32) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a kernel");
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse().ok());
    (numbers.next(), numbers.next()) < (Some(major), Some(minor))
}
