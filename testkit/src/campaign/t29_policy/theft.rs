//! Descriptors that another process takes out of a server or a client: only one of the same user
//! can, and only where that may look into them; and what it has then is the binding that it robbed,
//! and no other.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufRead, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearcall::{Domain, DomainOptions, Policy, Rules, Verdict, Who};
use nearcall_abi::message::{Message, PACKET_BYTES_MAX};
use nearcall_os::peer::{effective_uid, uid_of};
use nearcall_os::socket::{Listener, Stream};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::importers::{Importer, Manner};
use super::machine::Machine;
use super::{Part, audit, handed, landlocked, policies};
use crate::campaign::effects;
use crate::campaign::hand;
use crate::campaign::player::{Player, bind_in};
use crate::campaign::report::{Report, Stopped};
use crate::effects::effects::{EFFECTS, EffectsClient};
use crate::signal;

const NAME: &str = "robbed";

/// Longest that an importer may take.
const TIMEOUT: Duration = Duration::from_secs(5);

const fn user(uid: u32, manner: Manner) -> Importer {
    Importer { uid, gid: uid, group: None, manner }
}

const VICTIM: Importer = user(1000, Manner::Plain);

/// Who steals, and whether the kernel lets it where the victim may be looked into.
const THIEVES: &[(Importer, bool)] = &[
    (user(1000, Manner::Plain), true),
    (user(1000, Manner::Rightless), false),
    (user(1000, Manner::OwnRoot), false),
    (user(1001, Manner::Plain), false),
];

/// A server and a client of it, of one user.
struct Victims {
    directory: tempfile::TempDir,
    server: Player,
    client: Player,
}

impl Victims {
    fn start(openness: &str) -> Result<Victims, Stopped> {
        let directory = tempfile::tempdir()?;
        std::fs::set_permissions(directory.path(), Permissions::from_mode(0o777))?;
        let server = VICTIM.start(&[], Part::Keep, directory.path(), openness)?;
        let client = VICTIM.start(&[], Part::Hold, directory.path(), openness)?;
        Ok(Victims { directory, server, client })
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn end(&mut self, report: &mut Report) -> Result<(), Stopped> {
        for victim in [&mut self.client, &mut self.server] {
            report.violations.extend(victim.end()?.wrong(None));
        }
        Ok(())
    }
}

/// Has each thief try each descriptor of servers and clients. What was refused, and how many
/// decisions were written down.
pub fn run(report: &mut Report, machine: &Machine) -> Result<u64, Stopped> {
    let (mut refused, mut stolen, mut audited) = (0, 0, 0);
    let all = ["open", "closed"].into_iter();
    for openness in all.filter(|openness| machine.lets_look || *openness != "open") {
        let mut victims = Victims::start(openness)?;
        for (thief, may_steal) in THIEVES.iter().filter(|(thief, _)| machine.has(thief)) {
            for pid in [victims.server.pid(), victims.client.pid()] {
                let is_let = *may_steal && openness == "open";
                for (what, was_let) in tried(*thief, victims.path(), pid)? {
                    report.count += 1;
                    *if was_let { &mut stolen } else { &mut refused } += 1;
                    if was_let != is_let {
                        let got = format!("{thief:?} was let: {was_let}");
                        report.violation(format!("{got}, for {what} of an {openness} process"));
                    }
                }
            }
        }
        if openness == "open" {
            look_at_segments(report, &victims)?;
            listen_in_its_place(report, &victims)?;
            audited += use_a_binding(report, &mut victims)?;
        } else {
            victims.end(report)?;
        }
    }
    report.figure(format!("thefts refused {refused}, let {stolen}"));
    Ok(audited)
}

/// What a thief tried on a process, and whether it was let.
fn tried(thief: Importer, directory: &Path, pid: u32) -> Result<Vec<(String, bool)>, Stopped> {
    let descriptors = descriptors(pid)?;
    let segments = descriptors.iter().filter(|(_, what)| is_segment(what)).count();
    let numbers: Vec<String> = descriptors
        .iter()
        .map(|(number, what)| format!("{number}{}", if is_segment(what) { SEGMENT } else { "" }))
        .collect();
    let manner = if thief.manner == Manner::Rightless { "rightless" } else { "plain" };
    let rest = format!("{manner} {pid} {}", numbers.join(" "));
    let player = thief.start(&[], Part::Steal, directory, &rest)?;
    let said = said_by(player)?;
    let outcome = |line: &str| {
        let (what, outcome) = line.split_once(": ")?;
        Some((what.to_owned(), outcome == "let"))
    };
    let tried: Vec<_> = said.lines().filter_map(outcome).collect();
    match tried.len() == 2 * numbers.len() + segments + 2 && numbers.len() > 5 {
        true => Ok(tried),
        false => Err(format!("a thief of {numbers:?} said {said:?}").into()),
    }
}

/// What a thief says, who is to end in order.
fn said_by(mut thief: Player) -> Result<String, Stopped> {
    let ended = thief.wait()?;
    ended.wrong(None).map_or(Ok(ended.said), |wrong| Err(wrong.into()))
}

/// Behind the number of a descriptor: it is one of a segment.
const SEGMENT: &str = "m";

fn is_segment(what: &Path) -> bool {
    what.to_string_lossy().starts_with("/memfd:nearcall")
}

/// The descriptors of a process, and what they are.
fn descriptors(pid: u32) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd"))? {
        let entry = entry?;
        let number = entry.file_name().to_string_lossy().parse().map_err(io::Error::other)?;
        all.push((number, std::fs::read_link(entry.path())?));
    }
    Ok(all)
}

/// Tries to take what it is told of a process; [`Part::Steal`].
pub fn steal(rest: &str) {
    let mut words = rest.split(' ');
    if words.next() == Some("rightless") {
        landlocked::confine(&[]);
    }
    println!("ready");
    let pid = words.next().expect("a process");
    let say = |what: &str, outcome: io::Result<()>| match outcome {
        Ok(()) => println!("{what}: let"),
        Err(reason) => println!("{what}: {reason}"),
    };
    for word in words {
        let number = word.trim_end_matches(SEGMENT);
        let link = format!("/proc/{pid}/fd/{number}");
        let got = get(pid, number.parse().expect("a number")).map(drop);
        say(&format!("descriptor {number}"), got);
        say(&format!("kind of descriptor {number}"), std::fs::read_link(&link).map(drop));
        if word != number {
            say(&format!("file of descriptor {number}"), File::open(&link).map(drop));
        }
    }
    for file in ["mem", "maps"] {
        let opened = File::open(format!("/proc/{pid}/{file}")).map(drop);
        say(file, opened);
    }
}

fn process(pid: u32) -> io::Result<Pid> {
    Pid::from_raw(pid as i32).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// A descriptor of another process.
fn get(pid: &str, number: i32) -> io::Result<OwnedFd> {
    let process = process(pid.parse().map_err(io::Error::other)?)?;
    let process = pidfd_open(process, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?)
}

/// Segments that were stolen can be written only if they are written by both sides anyway, and not
/// be made smaller, neither as they came nor opened again.
fn look_at_segments(report: &mut Report, victims: &Victims) -> Result<(), Stopped> {
    let mut bells = 0;
    for pid in [victims.server.pid(), victims.client.pid()] {
        for (number, what) in descriptors(pid)? {
            if !is_segment(&what) {
                continue;
            }
            let what = what.to_string_lossy();
            let is_bell = what.contains("bell");
            bells += u64::from(is_bell);
            let rest = format!("{pid} {number}");
            let said = said_by(VICTIM.start(&[], Part::Spoil, victims.path(), &rest)?)?;
            let write = if is_bell { "let" } else { "refused" };
            let right = format!("write {write}, shrink refused\n").repeat(2);
            report.count += 4;
            if said != right {
                let does = format!("a thief of {what} says {said:?}");
                report.violation(format!("{does}, {right:?} is right"));
            }
        }
    }
    if bells == 0 {
        report.violation("no segment was there to be stolen");
    }
    Ok(())
}

/// Tries to write into a stolen segment, and to make it smaller; [`Part::Spoil`].
pub fn spoil(rest: &str) {
    println!("ready");
    let (pid, number) = rest.split_once(' ').expect("a process and a number");
    let stolen = get(pid, number.parse().expect("a number")).expect("theft works");
    let path = format!("/proc/{pid}/fd/{number}");
    let opened = OpenOptions::new().read(true).write(true).open(path).expect("theft works");
    for segment in [stolen, opened.into()] {
        let segment = segment.as_fd();
        let bytes = rustix::fs::fstat(segment).expect("a file").st_size as u64;
        let word = |outcome: Result<(), Errno>| match outcome {
            Ok(()) => "let".to_owned(),
            Err(Errno::PERM) => "refused".to_owned(),
            Err(other) => other.to_string(),
        };
        // The last byte: nobody reads it.
        let write = word(rustix::io::pwrite(segment, &[0], bytes - 1).map(drop));
        let shrink = word(rustix::fs::ftruncate(segment, 0));
        println!("write {write}, shrink {shrink}");
    }
}

/// Whoever has stolen the socket that a server listens on has its importers: that is what is said
/// of it (SECURITY.md), and no more.
fn listen_in_its_place(report: &mut Report, victims: &Victims) -> Result<(), Stopped> {
    let pid = victims.server.pid();
    let sockets = descriptors(pid)?.into_iter();
    let sockets = sockets.filter(|(_, what)| what.to_string_lossy().starts_with("socket:"));
    let numbers: Vec<_> = sockets.map(|(number, _)| number.to_string()).collect();
    let rest = format!("{pid} {}", numbers.join(" "));
    let usurper = VICTIM.start(&[], Part::Usurp, victims.path(), &rest)?;
    let importer = hand::connect(&hand::path_of(victims.path(), NAME))?;
    hand::send(&importer, &hand::packet(&hand::import_message()), &[])?;
    let said = said_by(usurper);
    // In case it has not.
    signal::resume(pid);
    let said = said?;
    let right = format!("user {} imports {}", effective_uid(), EFFECTS.name);
    report.count += 1;
    if said.trim_end() != right {
        let heard = format!("at a stolen socket {said:?} was heard");
        report.violation(format!("{heard}, {right:?} is right"));
    }
    Ok(())
}

/// Takes the socket that a server listens on, stops that, and says who comes and what for;
/// [`Part::Usurp`].
pub fn usurp(rest: &str) {
    let (pid, numbers) = rest.split_once(' ').expect("a process and numbers");
    let stolen = numbers.split(' ').map(|number| get(pid, number.parse().expect("a number")));
    let mut stolen = stolen.map(|socket| socket.expect("theft works"));
    let listener = stolen.find_map(|socket| Listener::from_descriptor(socket).ok());
    let listener = listener.expect("a server listens");
    // Whoever comes while one of its threads still runs may be the server's yet.
    let server = pid.parse().expect("a number");
    signal::stop(server);
    println!("ready");
    let importer = handed::accept(&listener);
    let mut packet = [0; PACKET_BYTES_MAX];
    let received = importer.receive(&mut packet, 0, TIMEOUT).expect("a packet");
    signal::resume(server);
    let user = uid_of(&importer).expect("a peer");
    match Message::decode(&packet[..received.bytes]) {
        Ok(Message::Import { interface_name, .. }) => {
            println!("user {} imports {interface_name}", user.expect("one that is known"));
        }
        other => println!("{other:?}"),
    }
}

/// A stolen socket makes no binding: the one that it is of is over, and written down as its
/// client's.
fn use_a_binding(report: &mut Report, victims: &mut Victims) -> Result<u64, Stopped> {
    let pid = victims.client.pid();
    let mut ends = 0;
    for (number, what) in descriptors(pid)? {
        if !what.to_string_lossy().starts_with("socket:") {
            continue;
        }
        let rest = format!("{pid} {number}");
        let said = said_by(VICTIM.start(&[], Part::Impose, victims.path(), &rest)?)?;
        report.count += 1;
        ends += 1;
        if said.trim_end() != "HungUp" {
            report.violation(format!("over a stolen socket: {said:?}"));
        }
    }
    victims.client.go()?;
    let said = victims.client.line()?;
    victims.end(report)?;
    let records = audit::read(victims.path())?;
    let written: Vec<_> = records
        .iter()
        .map(|record| (record.event.as_str(), record.uid, record.pid, record.name.as_str()))
        .collect();
    let wanted = ["bound", "revoked"].map(|event| (event, Some(VICTIM.uid), Some(pid), NAME));
    report.count += 1;
    if ends != 1 || said != "it is over" || written != wanted {
        let what = format!("{ends} sockets of a binding were stolen, its client says {said:?}");
        report.violation(format!("{what}, written down {written:?}, not {wanted:?}"));
    }
    Ok(1)
}

/// Imports over a socket that it steals; [`Part::Impose`].
pub fn impose(rest: &str) {
    println!("ready");
    let (pid, number) = rest.split_once(' ').expect("a process and a number");
    let stolen = get(pid, number.parse().expect("a number")).expect("theft works");
    let stream = Stream::from_descriptor(stolen).expect("an end of a connection");
    println!("{}", handed::import_over(&stream, false));
}

fn domain(openness: &str) -> Domain {
    let mut options = DomainOptions::default();
    options.is_dumpable = openness == "open";
    Domain::with_options(options).expect("a domain")
}

/// Serves whoever is of its user, and has a control group, which it can tell although nobody may
/// look into it; [`Part::Keep`].
pub fn keep(directory: &Path, openness: &str) {
    audit::write_to(directory);
    let domain = domain(openness);
    let file = effects::open(directory).expect("the file of effects");
    let cgroup = policies::has_control_groups().then(|| "/".to_owned());
    let who = Who { uid: Some(VICTIM.uid), cgroup, ..Who::default() };
    let rules = vec![policies::rule("robbed", who, Verdict::Admit)];
    let policy = Policy::Rules(Rules { rules });
    let clerk = effects::export_to(file, &domain, directory, NAME, policy);
    let clerk = clerk.expect("an export");
    println!("ready");
    io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
    drop(clerk);
    domain.shut_down();
}

/// Binds and holds the binding; told to go, says whether it still is one; [`Part::Hold`].
pub fn hold(directory: &Path, openness: &str) {
    let domain = domain(openness);
    let bound = bind_in(&domain, directory, NAME, TIMEOUT).expect("a binding");
    bound.null().expect("a call");
    println!("ready");
    for _ in io::stdin().lock().lines() {
        println!("{}", if is_over(&bound) { "it is over" } else { "it is not over" });
    }
}

fn is_over(bound: &EffectsClient) -> bool {
    bound.null().is_err()
}
