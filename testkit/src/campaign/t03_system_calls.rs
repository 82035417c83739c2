//! T3: a system call fails, or kills, at each place where a domain makes one; at night two of them.
//!
//! The kinds are those that the library lists (`nearcall::system_calls`), but for what is known not
//! to be made here. How many of each a thread makes is looked at first, in lives that are left
//! alone. A life in which nothing of what was injected was met is no life, and a kind that no life
//! has met is a failure.

pub mod kinds;
pub mod strace;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use self::kinds::{Made, Side, is_known, listed, may_fail};
use self::strace::{Fault, Inject, Seen};
use super::Setup;
use super::deaths::{Disturbed, Host, Survivor};
use super::report::{Report, Stopped};

/// What a system call may say.
const ERRORS: [&str; 8] =
    ["ENOMEM", "EINTR", "EAGAIN", "EMFILE", "EPERM", "EINVAL", "ENOBUFS", "ECONNRESET"];

/// How many-th calls of a thread are disturbed.
const TIMES: [u32; 4] = [1, 2, 3, 5];
const TIMES_AT_NIGHT: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 20];

/// Pairs of disturbances, on either side.
const PAIRS_AT_NIGHT: usize = 2_000;

/// How many of the errors a call of a thread says that is not its first of that kind, unless it is
/// night; chance chooses which.
const ERRORS_OF_LATER_ONES: usize = 4;

/// Lives that are looked at and left alone.
const LOOKS: usize = 10;

/// Lives one side, with what is injected into each of them.
type Live<'l> = &'l mut dyn FnMut(&[Inject]) -> Result<Disturbed, Stopped>;

/// What lives have met.
#[derive(Debug, Default)]
struct Met {
    kinds: BTreeSet<&'static str>,
    /// Lives that met one of two.
    half: u64,
    /// Lives that met nothing.
    nothing: u64,
}

/// Disturbs servers, then clients.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    if Command::new("strace").arg("-V").output().is_err() {
        return Err(Stopped::Lacking("strace".to_owned()));
    }
    let mut report = Report::of("disturbed lives");
    let mut survivor = Survivor::new()?;
    let of_servers =
        disturb(setup, &mut report, Side::Server, &mut |injects| survivor.disturbed(injects))?;
    let left_by_servers = survivor.left_behind();
    let mut host = Host::new()?;
    let of_clients =
        disturb(setup, &mut report, Side::Client, &mut |injects| host.disturbed(injects))?;
    report.violations.extend([left_by_servers, host.left_behind()].concat());
    let [servers, clients] = [&of_servers, &of_clients].map(|met| met.kinds.len());
    let kinds = of_servers.kinds.union(&of_clients.kinds).count();
    report.figure(format!("{kinds} system calls, {servers} of a server, {clients} of a client"));
    let (nothing, half) =
        (of_servers.nothing + of_clients.nothing, of_servers.half + of_clients.half);
    report.figure(format!("{nothing} lives met nothing"));
    if setup.is_nightly {
        report.figure(format!("{half} met one of two"));
    }
    Ok(report)
}

/// Looks at lives of one side, then disturbs them.
fn disturb(setup: &Setup, report: &mut Report, side: Side, live: Live<'_>) -> Result<Met, Stopped> {
    let most = looked_at(report, side, live)?;
    let mut met = Met::default();
    for injects in disturbances(setup, side, &most) {
        let Disturbed { seen, violations } = live(&injects)?;
        met.note(report, &injects, &seen);
        let named: Vec<_> = injects.iter().map(Inject::to_string).collect();
        let named = |violation| format!("{side:?}, {}: {violation}", named.join(" "));
        report.violations.extend(violations.into_iter().map(named));
    }
    for call in met.unmet(side) {
        report.violation(format!("{side:?}: no life met what was injected into {call}"));
    }
    Ok(met)
}

/// How many of each call a thread makes at most, in lives that are left alone.
fn looked_at(
    report: &mut Report,
    side: Side,
    live: Live<'_>,
) -> Result<BTreeMap<String, u32>, Stopped> {
    let mut most = BTreeMap::<String, u32>::new();
    for _ in 0..LOOKS {
        let Disturbed { seen, violations } = live(&[])?;
        report.violations.extend(violations);
        for (call, count) in seen.most() {
            let found = most.entry(call.to_owned()).or_default();
            *found = count.max(*found);
        }
    }
    for call in most.keys() {
        if !is_known(call) {
            report.violation(format!("{side:?}: {call} is made, and listed nowhere"));
        } else if side.makes(call) == Made::Never {
            report.violation(format!("{side:?}: {call} is made, and left out"));
        }
    }
    Ok(most)
}

/// What is injected into a life, one after the other: a death at each place, and errors; at night
/// all of them, and pairs that chance chooses.
fn disturbances(setup: &Setup, side: Side, most: &BTreeMap<String, u32>) -> Vec<Vec<Inject>> {
    let times = if setup.is_nightly { &TIMES_AT_NIGHT[..] } else { &TIMES };
    let mut chances = setup.chances("T3");
    let mut single = Vec::new();
    for call in listed().filter(|call| side.makes(call) != Made::Never) {
        let count = most.get(call).copied().unwrap_or(0);
        for time in times.iter().copied().take_while(|time| *time <= count) {
            let errors = match may_fail(call) {
                true if time == 1 || setup.is_nightly => ERRORS.to_vec(),
                true => chances.choose_multiple(ERRORS, ERRORS_OF_LATER_ONES),
                false => Vec::new(),
            };
            let faults = [Fault::Kill].into_iter().chain(errors.into_iter().map(Fault::Error));
            single.extend(faults.map(|fault| Inject { call, fault, time }));
        }
    }
    // Whoever cannot write says no panic that the other one of two has caused.
    let is_silent = |inject: &Inject| inject.call == "write" && inject.fault != Fault::Kill;
    let said: Vec<_> = single.iter().copied().filter(|inject| !is_silent(inject)).collect();
    let mut any = || said[chances.usize(..said.len())];
    let pairs = if setup.is_nightly { PAIRS_AT_NIGHT } else { 0 };
    let pairs: Vec<_> = (0..pairs).map(|_| vec![any(), any()]).collect();
    single.iter().map(|inject| vec![*inject]).chain(pairs).collect()
}

impl Met {
    /// What a side makes in each life, and no life has met.
    fn unmet(&self, side: Side) -> impl Iterator<Item = &'static str> {
        let wanted = listed().filter(move |call| side.makes(call) == Made::Always);
        wanted.filter(|call| !self.kinds.contains(call))
    }

    /// Counts a life if it met all that was injected.
    fn note(&mut self, report: &mut Report, injects: &[Inject], seen: &Seen) {
        let met = injects.iter().filter(|inject| seen.has_met(inject)).count();
        match met {
            0 => self.nothing += 1,
            met if met < injects.len() => self.half += 1,
            _ => {
                report.count += 1;
                self.kinds.extend(injects.iter().map(|inject| inject.call));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILL: Inject = Inject { call: "epoll_pwait", fault: Fault::Kill, time: 1 };

    fn met(injects: &[Inject], seen: &str) -> (Met, Report) {
        let (mut met, mut report) = (Met::default(), Report::of("lives"));
        met.note(&mut report, injects, &Seen::of(seen));
        (met, report)
    }

    #[test]
    fn a_life_counts_only_where_all_that_was_injected_was_met() {
        let killed = "7 +++ killed by SIGKILL +++\n";
        assert_eq!(met(&[KILL], killed).1.count, 1);
        let (nothing, report) = met(&[KILL], "7 +++ exited with 0 +++\n");
        assert_eq!((nothing.nothing, report.count), (1, 0));
        let error = Inject { fault: Fault::Error("EINTR"), ..KILL };
        let (half, report) = met(&[KILL, error], killed);
        assert_eq!((half.half, report.count), (1, 0));
    }

    #[test]
    fn a_kind_that_no_life_has_met_is_named_unless_that_side_never_makes_it() {
        let unmet = |met: &Met, side, call| met.unmet(side).any(|unmet| unmet == call);
        let nothing = Met::default();
        assert!(unmet(&nothing, Side::Server, "accept4"));
        assert!(!unmet(&nothing, Side::Client, "accept4"));
        assert!(unmet(&nothing, Side::Client, "epoll_pwait"));
        let (met, _) = met(&[KILL], "7 +++ killed by SIGKILL +++\n");
        assert!(!unmet(&met, Side::Client, "epoll_pwait"));
    }

    #[test]
    fn nothing_is_injected_into_what_no_life_makes() {
        let setup = Setup { seed: 1, is_nightly: false, is_untimed: false, root: ".".into() };
        let most = BTreeMap::from([("fstat".to_owned(), 2), ("dup3".to_owned(), 1)]);
        let injects = disturbances(&setup, Side::Client, &most).concat();
        let at = |time| injects.iter().filter(|inject| inject.time == time).count();
        assert!(injects.iter().all(|inject| inject.call == "fstat"));
        assert_eq!((at(1), at(2)), (1 + ERRORS.len(), 1 + ERRORS_OF_LATER_ONES));
    }
}
