//! Where the memory of a process is: in its heap, in its other mappings, in the kernel.

use std::fs;
use std::io;
use std::path::PathBuf;

use peak_alloc::PeakAlloc;

/// Counts what this program has of its heap, in the program that has it as its allocator.
pub static HEAP: PeakAlloc = PeakAlloc;

/// Where the C library puts heaps of threads: at multiples of this.
pub const ARENA_BYTES: u64 = 64 << 20;

/// Memory of a process that is its own and not in the C library's heaps, KiB: what it has freed
/// there it may keep.
pub fn outside_heaps_kb(pid: u32) -> io::Result<u64> {
    let smaps = fs::read_to_string(format!("/proc/{pid}/smaps"))?;
    outside_heaps(&smaps).ok_or_else(|| io::Error::other(format!("process {pid} has ended")))
}

/// `None`: no mapping tells what of it is in memory.
fn outside_heaps(smaps: &str) -> Option<u64> {
    let (mut sum, mut is_heap) = (None, false);
    for line in smaps.lines() {
        if let Some(anonymous) = line.strip_prefix("Anonymous:") {
            let kb: u64 = anonymous.split_whitespace().next()?.parse().ok()?;
            sum = Some(sum.unwrap_or(0) + if is_heap { 0 } else { kb });
        } else if let Some((start, _)) = line.split_once('-')
            && let Ok(start) = u64::from_str_radix(start, 16)
        {
            is_heap = start % ARENA_BYTES == 0 || line.ends_with("[heap]");
        }
    }
    sum
}

/// A memory control group, removed when it is dropped.
#[derive(Debug)]
pub struct MemoryGroup {
    path: PathBuf,
}

impl MemoryGroup {
    /// `None`: this process cannot make one.
    pub fn of(name: &str) -> io::Result<Option<MemoryGroup>> {
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let own = own.lines().find_map(|line| line.split_once(":memory:")).map(|found| found.1);
        let Some(own) = own.map(|own| own.trim_start_matches('/')) else {
            return Ok(None);
        };
        let name = format!("nearcall-{name}-{}", std::process::id());
        let path = PathBuf::from("/sys/fs/cgroup/memory").join(own).join(name);
        Ok(fs::create_dir(&path).ok().map(|()| MemoryGroup { path }))
    }

    /// What is in it may have no more than so many bytes.
    pub fn limit(&self, bytes: u64) -> io::Result<()> {
        fs::write(self.path.join("memory.limit_in_bytes"), bytes.to_string())
    }

    /// Puts a process into it.
    pub fn take(&self, pid: u32) -> io::Result<()> {
        fs::write(self.path.join("cgroup.procs"), pid.to_string())
    }

    /// One of its numbers.
    pub fn read(&self, name: &str) -> io::Result<u64> {
        let text = fs::read_to_string(self.path.join(name))?;
        text.trim().parse().map_err(io::Error::other)
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // Busy until the last process in it has ended; then it is of no use to anybody.
        let _ = fs::remove_dir(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_are_left_out() {
        let smaps = "7f9b10000000-7f9b14000000 rw-p 0 00:00 0\nRss: 9 kB\nAnonymous: 100 kB\n\
                     7f9b14f3f000-7f9b1513f000 rw-p 0 00:00 0\nAnonymous: 12 kB\n\
                     55d0c0001000-55d0c0022000 rw-p 0 00:00 0    [heap]\nAnonymous: 50 kB\n";
        assert_eq!(outside_heaps(smaps), Some(12));
        assert_eq!(outside_heaps(""), None);
    }
}
