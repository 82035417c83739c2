//! What this process takes of the machine's memory, as the kernel says it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use rustix::param::page_size;

use crate::child::Failure;

/// What it takes at one time.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Pages that are there.
    pub resident_bytes: u64,
    /// The kernel's page tables for them.
    pub tables_bytes: u64,
}

/// A line of `pagemap` says so of a page that is there, or was moved out.
const PRESENT: u64 = 0b11 << 62;

impl Memory {
    /// Now. From the page tables themselves: other files of the kernel's lag behind.
    pub fn now() -> Result<Memory, Failure> {
        let resident_bytes = kilobytes("/proc/self/smaps_rollup", "Rss:")? << 10;
        let tables_bytes = kilobytes("/proc/self/status", "VmPTE:")? << 10;
        Ok(Memory { resident_bytes, tables_bytes })
    }
}

fn kilobytes(file: &str, field: &str) -> Result<u64, Failure> {
    let text = fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or_else(|| format!("{file} says no {field}"))?.parse()?)
}

/// Bytes of the pages that are there of the `bytes` at each of these addresses.
pub fn touched_bytes(places: &[usize], bytes: usize) -> Result<u64, Failure> {
    let pagemap = File::open("/proc/self/pagemap")?;
    let (page, mut pages) = (page_size(), 0);
    let mut lines = vec![0; bytes / page * size_of::<u64>()];
    for place in places {
        pagemap.read_exact_at(&mut lines, (place / page * size_of::<u64>()) as u64)?;
        let lines = lines.as_chunks().0.iter().map(|line| u64::from_le_bytes(*line));
        pages += lines.filter(|line| line & PRESENT != 0).count();
    }
    Ok((pages * page) as u64)
}
