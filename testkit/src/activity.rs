//! What the threads of a process do, as the system tells: counts, not times.

use std::collections::BTreeMap;
use std::fs;

/// What the system has counted of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Its name, of up to 15 bytes.
    pub name: String,
    /// What it has used of processors, in the kernel's ticks.
    pub ticks: u64,
    /// How often it has waited.
    pub voluntary_switches: u64,
}

/// Of each thread of a process, by its number; `None` where the system does not tell.
pub fn activity(pid: u32) -> Option<BTreeMap<String, Activity>> {
    let mut threads = BTreeMap::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let path = thread.ok()?.path();
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        let (_, fields) = stat.rsplit_once(") ")?;
        // utime and stime are fields 14 and 15; the state, which follows the name, is field 3.
        let ticks = fields.split(' ').skip(11).take(2);
        let ticks = ticks.map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
        let status = fs::read_to_string(path.join("status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let voluntary_switches = field("voluntary_ctxt_switches:")?.trim().parse().ok()?;
        let name = field("Name:")?.trim().to_owned();
        let id = path.file_name()?.to_string_lossy().into_owned();
        threads.insert(id, Activity { name, ticks, voluntary_switches });
    }
    Some(threads)
}
