//! What a process has mapped, by what it is for.
//!
//! ```text
//!   no access, 4 KiB │ up to 64 KiB            signal stack of a thread
//!   no access, 4 KiB │ more than that          stack of a thread, which the C library may keep
//!   at a multiple of 64 MiB │ no access        heap of the C library's for threads, kept, too
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;

use super::memory::ARENA_BYTES;

/// What stacks of threads begin above.
const GUARD_BYTES: u64 = 4096;

/// A signal stack is at most so large; a thread's own has 2 MiB.
const SIGNAL_STACK_BYTES_MAX: u64 = 64 << 10;

/// What a mapping is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A segment of ours.
    Segment,
    /// A thread's stack, with its guard.
    Stack,
    /// A thread's signal stack, with its guard.
    SignalStack,
    /// A heap for threads, with what it has not taken yet.
    Arena,
    /// Anything else: its name and what may be done with it; without a name, its KiB, too.
    Other(String),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Segment => f.write_str("segment"),
            Kind::Stack => f.write_str("stack of a thread"),
            Kind::SignalStack => f.write_str("signal stack of a thread"),
            Kind::Arena => f.write_str("heap for threads"),
            Kind::Other(what) => f.write_str(what),
        }
    }
}

/// How many there are of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maps(BTreeMap<Kind, u64>);

#[derive(Debug)]
struct Mapping<'a> {
    start: u64,
    end: u64,
    access: &'a str,
    name: &'a str,
}

impl<'a> Mapping<'a> {
    fn of(line: &'a str) -> Option<Mapping<'a>> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let access = rest.split(' ').next()?;
        let name = rest.splitn(5, ' ').nth(4).map_or("", str::trim);
        Some(Mapping { start: number(start)?, end: number(end)?, access, name })
    }

    fn bytes(&self) -> u64 {
        self.end - self.start
    }

    fn is_anonymous(&self, access: &str) -> bool {
        self.name.is_empty() && self.access == access
    }

    fn is_guard(&self) -> bool {
        self.is_anonymous("---p") && self.bytes() == GUARD_BYTES
    }

    fn other(&self) -> Kind {
        let Mapping { access, name, .. } = self;
        match name.is_empty() {
            true => Kind::Other(format!("anonymous {access} {} KiB", self.bytes() >> 10)),
            false => Kind::Other(format!("{name} {access}")),
        }
    }
}

impl Maps {
    /// Of a process.
    pub fn of(pid: u32) -> io::Result<Maps> {
        fs::read_to_string(format!("/proc/{pid}/maps")).map(|text| Maps::read(&text))
    }

    fn read(text: &str) -> Maps {
        let mappings: Vec<_> = text.lines().filter_map(Mapping::of).collect();
        let (mut maps, mut rest) = (Maps::default(), &mappings[..]);
        while let [first, others @ ..] = rest {
            let second = others.first().filter(|second| second.start == first.end);
            let both = second.and_then(|second| kind_of_two(first, second));
            let is_segment = first.name.contains("memfd:nearcall");
            let one = || if is_segment { Kind::Segment } else { first.other() };
            rest = if both.is_some() { &others[1..] } else { others };
            *maps.0.entry(both.unwrap_or_else(one)).or_default() += 1;
        }
        maps
    }

    /// How many of this kind.
    pub fn count(&self, kind: &Kind) -> u64 {
        self.0.get(kind).copied().unwrap_or(0)
    }

    /// What there is more of than before, and how many more.
    pub fn more_than(&self, before: &Maps) -> Vec<(Kind, u64)> {
        let more = |(kind, count): (&Kind, &u64)| {
            Some((kind.clone(), count.checked_sub(before.count(kind))?)).filter(|more| more.1 > 0)
        };
        self.0.iter().filter_map(more).collect()
    }
}

/// What two mappings that follow each other are together, if that is something.
fn kind_of_two(first: &Mapping<'_>, second: &Mapping<'_>) -> Option<Kind> {
    if first.start.is_multiple_of(ARENA_BYTES) && first.is_anonymous("rw-p") {
        return second.is_anonymous("---p").then_some(Kind::Arena);
    }
    let is_stack = first.is_guard() && second.is_anonymous("rw-p");
    let is_signal = second.bytes() <= SIGNAL_STACK_BYTES_MAX;
    is_stack.then_some(if is_signal { Kind::SignalStack } else { Kind::Stack })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a server: main's signal stack, a thread's stacks and heap, a segment.
    const BEFORE: &str = "\
561cf16a4000-561cf16c5000 rw-p 00000000 00:00 0                          [heap]
7fbaa0000000-7fbaa0021000 rw-p 00000000 00:00 0
7fbaa0021000-7fbaa4000000 ---p 00000000 00:00 0
7fbaadfac000-7fbaadfb0000 rw-s 00000000 00:01 77     /memfd:nearcall-replies (deleted)
7fbaadfb0000-7fbaadfb1000 ---p 00000000 00:00 0
7fbaadfb1000-7fbaadfb3000 rw-p 00000000 00:00 0
7fbaadfb3000-7fbaadfb4000 ---p 00000000 00:00 0
7fbaadfb4000-7fbaae1b4000 rw-p 00000000 00:00 0
7fbaae7c1000-7fbaae7c2000 ---p 00000000 00:00 0
7fbaae7c2000-7fbaae7c4000 rw-p 00000000 00:00 0
7fbaae7c4000-7fbaae7c6000 rw-p 00037000 fe:00 12     /lib/ld.so
";

    #[test]
    fn each_mapping_is_of_a_kind() {
        let maps = Maps::read(BEFORE);
        let kinds = [Kind::Segment, Kind::Stack, Kind::SignalStack, Kind::Arena];
        assert_eq!(kinds.map(|kind| maps.count(&kind)), [1, 1, 2, 1]);
        let others = ["[heap] rw-p", "/lib/ld.so rw-p"].map(|what| Kind::Other(what.to_owned()));
        assert_eq!(others.map(|kind| maps.count(&kind)), [1, 1]);
        assert_eq!(maps.0.values().sum::<u64>(), 7);
    }

    #[test]
    fn what_there_is_more_of_is_named_and_what_there_was_is_not() {
        let more = "7fbaa8000000-7fbaa8021000 rw-p 00000000 00:00 0\n\
                    7fbaa8021000-7fbaac000000 ---p 00000000 00:00 0\n\
                    7fbaad000000-7fbaad040000 rw-p 00000000 00:00 0\n";
        let (before, after) = (Maps::read(BEFORE), Maps::read(&format!("{more}{BEFORE}")));
        let leaked = Kind::Other("anonymous rw-p 256 KiB".to_owned());
        assert_eq!(after.more_than(&before), [(Kind::Arena, 1), (leaked, 1)]);
        assert_eq!(before.more_than(&after), []);
    }
}
