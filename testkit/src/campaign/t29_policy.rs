//! T29: who may bind. Every policy is asked about every importer, by servers in many places; over
//! sockets that others have connected; and descriptors are stolen. Every decision is written down
//! once, and a flood of them in few records.
//!
//! ```text
//! places × importers × policies ─▶ policies::wanted ─▶ admitted, refused, or barred by the kernel
//!                                                   └▶ audit::wanted ─▶ one record each
//! ```

mod audit;
mod flood;
mod handed;
mod importers;
mod landlocked;
mod machine;
mod places;
mod policies;
mod theft;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use self::importers::{IMPORTERS, Importer};
use self::machine::Machine;
use self::places::{PLACES, Place};
use super::Setup;
use super::report::{Report, Stopped};

/// What the players of this row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Exports under every policy until its input ends.
    Judge,
    /// Listens on their sockets, and has itself replaced by one who exports there.
    Activate,
    /// Asks each of those to be let in, and says what came of it.
    Ask,
    /// Asks one that refuses it so many times.
    Flood,
    /// Connects to each, and hands the sockets over.
    Connect,
    /// Imports over sockets that it is given.
    Use,
    /// Makes a pair of sockets, and hands it over.
    Pair,
    /// Is introduced over a pair that it is given.
    Present,
    /// Serves its own user, to be robbed.
    Keep,
    /// Is bound there, to be robbed.
    Hold,
    /// Takes descriptors.
    Steal,
    /// Writes into a segment that it has taken.
    Spoil,
    /// Imports over a socket that it has taken.
    Impose,
    /// Listens in a server's place, on a socket that it has taken.
    Usurp,
    /// Exports with few rights.
    Lack,
}

impl Part {
    const ALL: [(Part, &'static str); 15] = [
        (Part::Judge, "judge"),
        (Part::Activate, "activate"),
        (Part::Ask, "ask"),
        (Part::Flood, "flood"),
        (Part::Connect, "connect"),
        (Part::Use, "use"),
        (Part::Pair, "pair"),
        (Part::Present, "present"),
        (Part::Keep, "keep"),
        (Part::Hold, "hold-robbed"),
        (Part::Steal, "steal"),
        (Part::Spoil, "spoil"),
        (Part::Impose, "impose"),
        (Part::Usurp, "usurp"),
        (Part::Lack, "lack"),
    ];

    /// How a player is told.
    pub fn word(self) -> &'static str {
        Part::ALL.into_iter().find(|(part, _)| *part == self).expect("all are listed").1
    }

    /// The one that a player was told.
    pub fn of(word: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|(_, each)| *each == word).map(|(part, _)| part)
    }

    /// Plays it.
    pub fn play(self, directory: &Path, rest: &str) {
        match self {
            Part::Judge => places::judge(directory, rest),
            Part::Activate => panic!("{}", places::activate(directory)),
            Part::Ask => importers::ask(directory, rest),
            Part::Flood => flood::flood(directory, rest),
            Part::Connect => handed::connect(directory),
            Part::Use => handed::use_connected(directory),
            Part::Pair => handed::pair(directory),
            Part::Present => handed::present(directory),
            Part::Keep => theft::keep(directory, rest),
            Part::Hold => theft::hold(directory, rest),
            Part::Steal => theft::steal(rest),
            Part::Spoil => theft::spoil(rest),
            Part::Impose => theft::impose(rest),
            Part::Usurp => theft::usurp(rest),
            Part::Lack => landlocked::lack(directory, rest),
        }
    }
}

/// Asks each server about each importer, and then does the other things.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    let mut report = Report::of("decisions and thefts");
    let Some(machine) = Machine::look(&mut report) else {
        let what = "the right to become another user, or root of a user namespace";
        return Err(Stopped::Lacking(what.to_owned()));
    };
    let mut audited = 0;
    for place in PLACES.iter().filter(|place| machine.has_place(place)) {
        for importer in IMPORTERS.iter().filter(|importer| machine.has(importer)) {
            audited += ask(&mut report, &machine, place, *importer)?;
        }
    }
    audited += handed::run(&mut report)?;
    audited += theft::run(&mut report, &machine)?;
    if machine.has_landlock() {
        landlocked::run(&mut report)?;
    }
    report.figure(format!("{audited} decisions written down once each"));
    flood::run(&mut report)?;
    Ok(report)
}

/// Asks a server there about an importer. How many decisions were to be written down.
///
/// Each pair has a server of its own, so that no user has more records than are written at once.
fn ask(
    report: &mut Report,
    machine: &Machine,
    place: &Place,
    importer: Importer,
) -> Result<u64, Stopped> {
    let directory = tempfile::tempdir()?;
    std::fs::set_permissions(directory.path(), Permissions::from_mode(0o755))?;
    let mut judge = place.start(directory.path())?;
    let heard = importer.ask(&place.starter_of_importers(&judge)?, directory.path())?;
    let ended = judge.end()?;
    let asked = |name: &str| format!("{name} asked {} about {importer:?}", place.name);
    if let Some(wrong) = ended.wrong(None) {
        report.violation(format!("{}: {wrong}", asked("a server")));
    }
    let mut wanted = Vec::new();
    for (name, said) in &heard.verdicts {
        let outcome = policies::wanted(name, importer, place);
        report.count += u64::from(machine.tells_by(name, &importer));
        if said != outcome.word() {
            let right = outcome.word();
            report.violation(format!("{} said {said}, {right} is right", asked(name)));
        }
        wanted.extend(audit::wanted(name, outcome, importer, heard.pid, place));
    }
    let found = audit::read(directory.path())?;
    for difference in audit::differences(&found, &wanted) {
        report.violation(format!("{}: {difference}", asked("every policy")));
    }
    Ok(wanted.iter().filter(|record| record.event != "revoked").count() as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::player::Role;
    use super::*;

    #[test]
    fn no_two_roles_are_told_by_one_word() {
        let own = [
            Role::Serve,
            Role::Relay,
            Role::Test,
            Role::Prompted,
            Role::Echo,
            Role::Call,
            Role::Hold,
            Role::Suffer,
            Role::Twins,
            Role::Knock,
            Role::Reuse,
        ];
        let of_policies = Part::ALL.map(|(part, _)| Role::Policy(part));
        let words = own.iter().chain(&of_policies).map(|role| role.word());
        let different: BTreeSet<_> = words.collect();
        assert_eq!(different.len(), own.len() + of_policies.len());
    }
}
