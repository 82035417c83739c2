//! Chains of calls: A calls B, which calls C over a binding of its own, and one of them, or B and
//! C, are killed at named steps (L53). What each of the others is told must be true; B's answer
//! reaches A whatever became of C, C's answer reaches B whatever became of A; and who lives serves
//! on.
//!
//! Where B or C dies, A is this process. B writes down what it was told (`effects.rs`), so that its
//! calls are judged as A's are, by the same oracle, also where nobody hears B any more.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use nearcall::Domain;
use tempfile::TempDir;

use super::super::Setup;
use super::super::code;
use super::super::deaths::{Life, SETTLED, end_of, is_a_callers, left_behind, process, published};
use super::super::effects;
use super::super::held::Held;
use super::super::latency::Times;
use super::super::oracle::{CallName, Entry, Told, judge, unmade};
use super::super::player::{Ended, PLANT, Player, Role, bind_in};
use super::super::report::{Report, Stopped};
use super::super::told::heard;
use super::{Notices, choose, die};

/// Deaths at each step, in the shorter version and at night.
const DEATHS: usize = 4;
const DEATHS_AT_NIGHT: usize = 40;

/// How many there must be: which way a domain goes depends on how fast the others are, so that not
/// every step is met.
const DEATHS_MIN: f64 = 300.0;

/// Longest that anybody may take to do anything.
const TIMEOUT: Duration = Duration::from_secs(10);

/// In which a domain must have let go of what others have left.
const LET_GO: Duration = Duration::from_secs(2);

/// Number of this process as a client; those that it starts have larger ones.
const SURVIVOR: u64 = 0;

/// Calls that this process makes of each B.
const CALLS: u64 = 2;

/// B and C: where they are in arrays, and their names.
const B: usize = 0;
const C: usize = 1;
const NAMES: [&str; 2] = ["chain-b", "chain-c"];

/// Where B and C die, if they do.
type Plants = [Option<u64>; 2];

/// B and C, each of which lives on or is started anew, and what their clients were told.
struct Chain {
    domain: Domain,
    directory: TempDir,
    /// Those that live on.
    standing: [Option<Player>; 2],
    /// Calls of this process, and clients that were started.
    calls: u64,
    clients: u64,
    /// Of all lives.
    history: Vec<Entry>,
    held: Held,
}

/// What A was told in one life.
struct Answers {
    /// Of each call; and what B said that it was told itself, if it said anything.
    history: Vec<(Entry, Option<u32>)>,
    /// When of the last one.
    at: Instant,
    /// Replies that stand in A's A-stacks and were not delivered.
    lost: u64,
}

/// Kills each of them, and says how soon A was told of B and C.
pub fn run(setup: &Setup, report: &mut Report, known: &[u64]) -> Result<Times, Stopped> {
    let mut chain = Chain::new()?;
    let before = report.count;
    let of_b = choose(setup, "T1 chain B", code::lines_of(&chain.met_by_server(B, known)?)?);
    let of_c = choose(setup, "T1 chain C", code::lines_of(&chain.met_by_server(C, known)?)?);
    let of_a = choose(setup, "T1 chain A", code::lines_of(&chain.met_by_client(known)?)?);
    let deaths = if setup.is_nightly { DEATHS_AT_NIGHT } else { DEATHS };
    let mut told = Notices::default();
    chain.keeping(&[B], report, |chain, report| {
        of_c.iter().try_for_each(|(name, at)| {
            let live = || chain.outlive([None, Some(*at)]);
            die(deaths, report, &format!("{name}, as C"), &mut told, live)
        })
    })?;
    chain.keeping(&[C], report, |chain, report| {
        of_b.iter().try_for_each(|(name, at)| {
            let live = || chain.outlive([Some(*at), None]);
            die(deaths, report, &format!("{name}, as B"), &mut told, live)
        })
    })?;
    for ((name, at), (other, at_other)) in of_b.iter().zip(&of_c) {
        let live = || chain.outlive([Some(*at), Some(*at_other)]);
        die(deaths, report, &format!("{name}, as B, and C at {other}"), &mut told, live)?;
    }
    chain.keeping(&[B, C], report, |chain, report| {
        of_a.iter().try_for_each(|(name, at)| {
            let live = || chain.outlast(*at);
            die(deaths, report, &format!("{name}, as A"), &mut told, live)
        })
    })?;
    report.figure(format!("{} steps of chains", of_a.len() + of_b.len() + of_c.len()));
    report.at_least("deaths there", (report.count - before) as f64, DEATHS_MIN, "");
    report.violations.extend(chain.end()?);
    Ok(told.after)
}

impl Chain {
    fn new() -> Result<Chain, Stopped> {
        let mut chain = Chain {
            domain: Domain::new()?,
            directory: tempfile::tempdir()?,
            standing: [None, None],
            calls: 0,
            clients: 0,
            history: Vec::new(),
            held: Held::by(std::process::id())?,
        };
        // What the first life makes for good belongs to the measure.
        chain.live_undisturbed()?;
        chain.stand([false, false])?;
        std::thread::sleep(SETTLED);
        chain.held = Held::by(std::process::id())?;
        Ok(chain)
    }

    fn start(&self, which: usize) -> io::Result<Player> {
        let role = [Role::Relay, Role::Serve][which];
        Player::start(role, self.directory.path(), NAMES[which], NAMES[C])
    }

    /// Has those live on that are to, and no other.
    fn stand(&mut self, are_to: [bool; 2]) -> Result<(), Stopped> {
        for which in [B, C] {
            if let Some(server) = self.standing[which].as_mut().filter(|_| !are_to[which]) {
                if let Some(wrong) = server.end()?.wrong(None) {
                    return Err(format!("{}: {wrong}", NAMES[which]).into());
                }
                self.standing[which] = None;
            }
            if are_to[which] && self.standing[which].is_none() {
                self.standing[which] = Some(self.start(which)?);
            }
        }
        Ok(())
    }

    fn live_undisturbed(&mut self) -> Result<(), Stopped> {
        let Life { violations, .. } = self.outlive([None, None])?;
        match violations.first() {
            Some(violation) => Err(format!("where nobody dies: {violation}").into()),
            None => Ok(()),
        }
    }

    /// Has others die while these live on, which must then hold what they held before.
    fn keeping(
        &mut self,
        which: &[usize],
        report: &mut Report,
        work: impl FnOnce(&mut Chain, &mut Report) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        self.live_undisturbed()?;
        std::thread::sleep(SETTLED);
        let pids: Vec<_> =
            which.iter().filter_map(|which| Some(self.standing[*which].as_ref()?.pid())).collect();
        let held: io::Result<Vec<_>> = pids.iter().map(|pid| Held::by(*pid)).collect();
        let held = held?;
        work(self, report)?;
        for ((which, pid), held) in which.iter().zip(pids).zip(held) {
            if let Err(still) = held.again(pid, LET_GO) {
                let name = NAMES[*which];
                report.violation(format!("of {name}'s after deaths {still}"));
            }
        }
        Ok(())
    }

    /// Has A call B until a call comes to something else than where nobody dies.
    fn call(&mut self) -> Answers {
        let mut answers = Answers { history: Vec::new(), at: Instant::now(), lost: 0 };
        let bound = bind_in(&self.domain, self.directory.path(), NAMES[B], TIMEOUT);
        answers.at = Instant::now();
        let Ok(client) = bound else {
            return answers;
        };
        let client = client.with_deadline(TIMEOUT);
        let mut returned = 0;
        for _ in 0..CALLS {
            self.calls += 1;
            let outcome = client.relay(SURVIVOR, self.calls);
            answers.at = Instant::now();
            returned += u64::from(outcome.is_ok());
            let call = CallName { client: SURVIVOR, number: self.calls };
            let entry = Entry::of(call, client.binding(), &outcome);
            answers.history.push((entry, outcome.as_ref().ok().copied()));
            if !matches!(outcome, Ok(0)) {
                break;
            }
        }
        answers.lost = published().saturating_sub(returned);
        answers
    }

    /// B, C or both are started anew and die where it is said, or none of them; A calls B.
    fn outlive(&mut self, plants: Plants) -> Result<Life, Stopped> {
        self.stand(plants.map(|plant| plant.is_none()))?;
        let (mut mortals, mut processes) = (Vec::new(), Vec::new());
        for which in [C, B] {
            if let Some(offset) = plants[which] {
                let server = self.start(which)?;
                server.plant(offset)?;
                processes.push(process(server.pid())?);
                mortals.push((which, server));
            }
        }
        let (answers, ends, ended) = std::thread::scope(|threads| {
            let watch = |process| threads.spawn(move || end_of(process));
            let watches: Vec<_> = processes.iter().map(watch).collect();
            let answers = self.call();
            let ends = end_all(&mut mortals, !answers.are_all());
            let ended: io::Result<Vec<_>> =
                watches.into_iter().map(|watch| watch.join().expect("a watch")).collect();
            (answers, ends, ended)
        });
        let mut died = [false, false];
        let mut life = Life::default();
        for (which, ended) in ends? {
            died[which] = ended.was_killed_by_plant();
            life.was_killed |= died[which];
            let wrong = ended.wrong(Some(PLANT));
            life.violations.extend(wrong.map(|wrong| format!("{}: {wrong}", NAMES[which])));
        }
        if life.was_killed && !answers.are_all() {
            // The one that A waits for tells it, or is dead.
            let told_by = if died[B] { ended?.last().copied() } else { ended?.first().copied() };
            life.told_after = told_by.map(|ended| answers.at.saturating_duration_since(ended));
        }
        life.violations.extend(self.judge_answers(&answers, died));
        Ok(life)
    }

    /// What is wrong with what A was told, where B, C or both died, or neither.
    fn judge_answers(&mut self, answers: &Answers, died: [bool; 2]) -> Vec<String> {
        let mut wrong = Vec::new();
        if answers.lost > 0 {
            wrong.push(format!("{} replies were there and not delivered", answers.lost));
        }
        let records = self.records();
        if !died[B] && answers.history.is_empty() {
            wrong.push("A was not bound, and B lives".to_owned());
        }
        for (Entry { call, told, .. }, said) in &answers.history {
            let number = call.number;
            let record = records.get(&effects::relayed(*call)).map(|entry| entry.told);
            if said.is_some() && record.map(|told| told.word()) != *said {
                wrong.push(format!("call {number}: B says {said:?}, and was told {record:?}"));
            }
            if !died[B] && *told != Told::Returned {
                wrong.push(format!("call {number}: A was told {told:?}, and B lives"));
            }
            if !died[C] && record.is_some_and(|told| told != Told::Returned) {
                wrong.push(format!("call {number}: B was told {record:?}, and C lives"));
            }
        }
        let told: Vec<_> = answers.history.iter().map(|(entry, _)| *entry).collect();
        wrong.extend(self.judge(&told, &records));
        wrong
    }

    /// What is wrong with the calls of A, and with those that B has made for them.
    fn judge(&mut self, told: &[Entry], records: &HashMap<CallName, Entry>) -> Vec<String> {
        let mut history = told.to_vec();
        for Entry { call, told, .. } in told {
            let behind = effects::relayed(*call);
            let nothing = Entry::told(behind, Told::Nothing);
            history.push(records.get(&behind).copied().unwrap_or(nothing));
            if *told == Told::DidNotRun {
                // So B has not called on.
                history.push(Entry::told(behind, Told::DidNotRun));
            }
        }
        let wrong = judge(&history, &effects::written(self.directory.path()));
        self.history.extend(history);
        wrong
    }

    /// What servers were told so far.
    fn records(&self) -> HashMap<CallName, Entry> {
        let told = effects::told(self.directory.path());
        told.into_iter().map(|entry| (entry.call, entry)).collect()
    }

    /// A is started and dies where it is said. B and C live, and serve another A.
    fn outlast(&mut self, offset: u64) -> Result<Life, Stopped> {
        self.stand([true, true])?;
        let (mut client, number) = self.client()?;
        client.plant(offset)?;
        client.go()?;
        let ended = client.wait()?;
        let mut life = Life { was_killed: ended.was_killed_by_plant(), ..Life::default() };
        life.violations.extend(ended.wrong(Some(PLANT)));
        let history = heard(number, &ended.said);
        if !life.was_killed && history.iter().any(|entry| entry.told != Told::Returned) {
            life.violations.push(format!("A was not killed, and said {:?}", ended.said));
        }
        let answers = self.call();
        life.violations.extend(self.judge_answers(&answers, [false, false]));
        let records = self.records();
        life.violations.extend(self.judge(&history, &records));
        Ok(life)
    }

    /// A that waits to be told to go, and its number.
    fn client(&mut self) -> io::Result<(Player, u64)> {
        self.clients += 1;
        let number = format!("{}>", self.clients);
        let client = Player::start(Role::Call, self.directory.path(), NAMES[B], &number)?;
        Ok((client, self.clients))
    }

    /// What B or C executes.
    fn met_by_server(&mut self, which: usize, known: &[u64]) -> Result<Vec<u64>, Stopped> {
        self.stand([B, C].map(|other| other != which))?;
        let mut server = self.start(which)?;
        let input = server.take_input();
        let mut are_all = false;
        let met = code::executed(&server, known, || {
            are_all = self.call().are_all();
            drop(input);
        })?;
        Player::forget(server);
        match are_all {
            true => Ok(met),
            false => Err("not every call of servers that were looked at returned".into()),
        }
    }

    /// What A executes.
    fn met_by_client(&mut self, known: &[u64]) -> Result<Vec<u64>, Stopped> {
        self.stand([true, true])?;
        let (mut client, number) = self.client()?;
        let mut input = client.take_input();
        let met = code::executed(&client, known, || {
            use std::io::Write;
            // One that is gone already has executed what it did.
            let _ = input.write_all(b"go\n");
        })?;
        // Whoever looked has waited for it.
        let said = client.said()?;
        Player::forget(client);
        match heard(number, &said).iter().all(|entry| entry.told == Told::Returned) {
            true => Ok(met),
            false => Err(format!("A was looked at, and said {said:?}").into()),
        }
    }

    /// Whether an A has made a call.
    fn has_made(&self, call: CallName) -> bool {
        match call.client {
            SURVIVOR => (1..=self.calls).contains(&call.number),
            client => client <= self.clients && is_a_callers(call),
        }
    }

    /// Ends B and C. What is wrong with anything that was ever said, now that nothing runs.
    fn end(mut self) -> Result<Vec<String>, Stopped> {
        self.stand([false, false])?;
        let path = self.directory.path();
        let effects = effects::written(path);
        let mut wrong = judge(&self.history, &effects);
        let told = effects::told(path);
        wrong.extend(judge(&told, &effects));
        let survivor = effects::relayed(CallName { client: SURVIVOR, number: 0 }).client;
        // Those that A has died of. B may be in the middle of anything: it goes on.
        let of_dead = told.iter().filter(|entry| entry.call.client != survivor);
        for Entry { call, told, .. } in of_dead.filter(|entry| entry.told != Told::Returned) {
            wrong.push(format!("call {}: B was told {told:?}, and C lives", call.number));
        }
        wrong.extend(unmade(&effects, |call| self.has_made(effects::first_of(call))));
        Ok(left_behind(self.held, wrong))
    }
}

impl Answers {
    /// Every call of A's and of B's returned.
    fn are_all(&self) -> bool {
        let whole = self.history.iter().filter(|(_, said)| *said == Some(0));
        whole.count() as u64 == CALLS
    }
}

/// Ends those that have not died; one of them has, or is about to, if `has_one_died`.
fn end_all(mortals: &mut [(usize, Player)], has_one_died: bool) -> io::Result<Vec<(usize, Ended)>> {
    let begin = Instant::now();
    let mut ended = || {
        while has_one_died && !mortals.is_empty() {
            let mut ended = mortals.iter_mut().map(|(_, server)| server.ended());
            if ended.any(|ended| matches!(ended, Ok(Some(_)))) {
                break;
            }
            if begin.elapsed() > TIMEOUT {
                return Err(io::Error::other("a call has failed, and nobody has died"));
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        let end = |(which, server): &mut (usize, Player)| {
            drop(server.take_input());
            Ok((*which, server.wait()?))
        };
        mortals.iter_mut().map(end).collect()
    };
    let ended = ended();
    if ended.is_err() {
        // Somebody waits for their ends.
        mortals.iter_mut().try_for_each(|(_, server)| server.kill().map(drop))?;
    }
    ended
}
