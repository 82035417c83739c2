//! The other direction: what a client has in its memory, of its own or from one server, is nowhere
//! where another server can read. This process is the client. Its calls to the first server carry
//! the pattern both ways, through its heap and its stacks, its loans and its segments out of line;
//! its calls to the second carry other values, some of them with padding, or less than fits. Then
//! all that is shared with the second one is read, as that one could.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::{Binding, Domain};

use super::super::Setup;
use super::super::player::{Player, Role};
use super::super::report::{Report, Stopped};
use super::{BETWEEN, PATTERN, holds_pattern};
use crate::faults::faults::{FAULTS, FaultsClient, Point, Shape};
use crate::server::import_options;

const NAMES: [&str; 2] = ["trusted", "curious"];

const CALLS: u64 = 20_000;
const CALLS_AT_NIGHT: u64 = 2_000_000;

/// How soon the second server lets go of what it was shown on purpose.
const FORGOTTEN: Duration = Duration::from_secs(5);

/// A client of both servers.
struct Scene<'s> {
    domain: Domain,
    directory: &'s Path,
    trusted: FaultsClient,
    curious: FaultsClient,
    /// Of the second server.
    pid: u32,
    memory: File,
}

/// Calls both, looks at the second.
pub fn run(setup: &Setup, report: &mut Report) -> Result<(), Stopped> {
    let directory = tempfile::tempdir()?;
    let path = directory.path();
    let start = |name| Player::start(Role::Test, path, name, "");
    let (mut first, mut second) = (start(NAMES[0])?, start(NAMES[1])?);
    let domain = Domain::new()?;
    let [trusted, curious] = NAMES.map(|name| bind(&domain, path, name));
    let memory = File::open(format!("/proc/{}/mem", second.pid()))?;
    let (trusted, curious, pid) = (trusted?, curious?, second.pid());
    let mut scene = Scene { domain, directory: path, trusted, curious, pid, memory };
    scene.show()?;
    let (mut looks, mut bytes) = (0u64, 0);
    for number in 0..if setup.is_nightly { CALLS_AT_NIGHT } else { CALLS } {
        scene.fill(number)?;
        report.count += 1;
        if number % BETWEEN == 0 {
            looks += 1;
            // What a new binding begins with is looked at as well.
            if looks % 8 == 0 {
                scene.curious = bind(&scene.domain, path, NAMES[1])?;
            }
            scene.call()?;
            let (seen, read) = scene.seen()?;
            bytes += read;
            if let Some(place) = seen {
                let to = "a server that was never sent it";
                report.violation(format!("after {number} calls {to} sees the pattern in {place}"));
                break;
            }
        }
    }
    report.figure(format!("{looks} looks of a second server, {} MiB", bytes >> 20));
    if bytes == 0 {
        report.violation("nothing is shared with the second server");
    }
    drop(scene);
    for server in [&mut first, &mut second] {
        report.violations.extend(server.end()?.wrong(None));
    }
    Ok(())
}

fn bind(domain: &Domain, directory: &Path, name: &str) -> Result<FaultsClient, Stopped> {
    let options = import_options(directory);
    Ok(FaultsClient::new(Binding::import_with(domain, name, &FAULTS, options)?))
}

/// So many words of the pattern.
pub(super) fn pattern(words: usize) -> Vec<u8> {
    std::iter::repeat_n(PATTERN.to_le_bytes(), words).flatten().collect()
}

impl Scene<'_> {
    /// The pattern would be found if the second server had been sent it, in line and out of line.
    fn show(&self) -> Result<(), Stopped> {
        for words in [8, 20_000] {
            let shown = bind(&self.domain, self.directory, NAMES[1])?;
            shown.sum(&pattern(words))?;
            if self.seen()?.0.is_none() {
                return Err("the pattern is not found where it is".into());
            }
            drop(shown);
            let begin = Instant::now();
            while self.seen()?.0.is_some() {
                if begin.elapsed() > FORGOTTEN {
                    return Err("what a client has let go of is still mapped".into());
                }
            }
        }
        Ok(())
    }

    /// A call to the first server, full of the pattern, of one length or another.
    fn fill(&self, number: u64) -> Result<(), Stopped> {
        let words = [1, 5, 40, 150, 1_000, 20_000][(number % 6) as usize];
        let data = pattern(words);
        match number % 5 {
            0 => drop(self.trusted.sum(&data)?),
            1 => drop(self.trusted.echo(&data)?),
            2 => drop(self.trusted.work(PATTERN as u8, 0, &data[..8 * words.min(30)])?),
            3 => {
                let x = PATTERN as i32;
                let y = f64::from_bits(PATTERN);
                let shape = Shape { name: "p".repeat(words), points: vec![Point { x, y }; words] };
                drop(self.trusted.mirror(&[shape])?);
            }
            _ => drop(self.trusted.join(&data, &data, &data, "secret")?),
        }
        fill_stack();
        Ok(())
    }

    /// Calls to the second server, with padding, with bytes that are left over, and out of line.
    fn call(&self) -> Result<(), Stopped> {
        let curious = &self.curious;
        curious.null()?;
        curious.add(2, 3)?;
        curious.set_level(7)?;
        curious.greet("abc")?;
        for bytes in [0, 3, 49, 333, 1_001, 5_003, 70_001] {
            leave_freed(bytes);
            curious.echo(&vec![9; bytes])?;
            leave_freed(bytes);
            curious.sum(&vec![9; bytes][..])?;
        }
        curious.work(1, 0, &[1, 2, 3])?;
        curious.join(&[1, 2, 3], &[4, 5], &[], "end")?;
        let shape = |x| Shape { name: "abc".to_owned(), points: vec![Point { x, y: 1.5 }; 3] };
        curious.mirror(&[shape(1), shape(2)])?;
        Ok(())
    }

    /// Where the second server sees the pattern, if it does; and how many bytes it sees.
    fn seen(&self) -> Result<(Option<String>, u64), Stopped> {
        seen_in(self.pid, &self.memory)
    }
}

/// Where the pattern stands in what a process shares with others, if it does; and how many bytes
/// that is.
pub(super) fn seen_in(pid: u32, memory: &File) -> Result<(Option<String>, u64), Stopped> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let mut read = 0;
    for line in maps.lines().filter(|line| line.contains("memfd:nearcall")) {
        let Some([begin, end]) = range(line) else {
            return Err(format!("no range: {line}").into());
        };
        let mut bytes = vec![0; (end - begin) as usize];
        let mut there = 0;
        // The last page is a guard; one that it has let go of just now has no first.
        while let Ok(more @ 1..) = memory.read_at(&mut bytes[there..], begin + there as u64) {
            there += more;
        }
        bytes.truncate(there);
        read += there as u64;
        if holds_pattern(&bytes) {
            return Ok((Some(line.to_owned()), read));
        }
    }
    Ok((None, read))
}

/// Where a mapping begins and ends.
fn range(line: &str) -> Option<[u64; 2]> {
    let (begin, end) = line.split(' ').next()?.split_once('-')?;
    let parse = |text| u64::from_str_radix(text, 16).ok();
    Some([parse(begin)?, parse(end)?])
}

/// Leaves the pattern in memory that is free again, and goes to the next who wants so many bytes:
/// the C library gives 8 bytes more than a multiple of 16, 24 at least.
pub(super) fn leave_freed(bytes: usize) {
    let given = ((bytes + 8).next_multiple_of(16) - 8).max(24);
    drop([(); 4].map(|()| black_box(PATTERN.to_le_bytes().repeat(given / 8))));
}

/// Leaves the pattern where the stacks of later calls will be.
#[inline(never)]
pub(super) fn fill_stack() {
    black_box([PATTERN; 4_096]);
}
