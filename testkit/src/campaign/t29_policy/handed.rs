//! Sockets that one process has made or connected and another one uses: who is judged is whoever
//! made them, as the kernel tells, also where somebody was introduced; and a binding ends with it.

use std::fs::Permissions;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearcall::{Binding, Domain};
use nearcall_abi::message::{Message, PACKET_BYTES_MAX, RefusalCode};
use nearcall_os::socket::{Listener, Stream};
use rustix::event::{PollFd, PollFlags, poll};

use super::importers::{Importer, Manner};
use super::places::PLACES;
use super::policies::{self, Outcome};
use super::{Part, audit};
use crate::campaign::hand::{self, Heard};
use crate::campaign::player::Player;
use crate::campaign::report::{Report, Stopped};
use crate::effects::effects::EFFECTS;
use crate::server::import_options;

/// Longest that the other side may take.
const TIMEOUT: Duration = Duration::from_secs(5);

const fn importer(uid: u32) -> Importer {
    Importer { uid, gid: uid, group: None, manner: Manner::Plain }
}

/// Who connects, and who imports over that.
const PAIRS: &[(Importer, Importer)] = &[
    (importer(1000), importer(1001)),
    (importer(1001), importer(1000)),
    (importer(0), importer(1000)),
    (importer(1000), importer(0)),
];

/// Where whoever uses sockets is given them.
fn handover(directory: &Path) -> PathBuf {
    directory.join("handover").join("socket")
}

/// A directory where any user may listen.
fn place() -> io::Result<tempfile::TempDir> {
    let directory = tempfile::tempdir()?;
    let inner = directory.path().join("handover");
    std::fs::create_dir(&inner)?;
    for (path, mode) in [(directory.path(), 0o755), (&inner, 0o777)] {
        std::fs::set_permissions(path, Permissions::from_mode(mode))?;
    }
    Ok(directory)
}

/// Asks every policy over sockets that others have connected, and is introduced over a pair that
/// another one has made.
pub fn run(report: &mut Report) -> Result<u64, Stopped> {
    let mut audited = 0;
    for (maker, user) in PAIRS {
        audited += connected_by_another(report, *maker, *user)?;
        audited += made_by_another(report, *maker, *user)?;
    }
    Ok(audited)
}

fn connected_by_another(
    report: &mut Report,
    maker: Importer,
    user: Importer,
) -> Result<u64, Stopped> {
    let (place, directory) = (&PLACES[0], place()?);
    let mut judge = place.start(directory.path())?;
    let mut using = user.start(&[], Part::Use, directory.path(), "")?;
    let mut making = maker.start(&[], Part::Connect, directory.path(), "")?;
    let (mut wanted, mut bound) = (Vec::new(), 0u64);
    for name in policies::names() {
        let outcome = policies::wanted(name, maker, place);
        let (said, right) = (using.line()?, format!("{name} {}", outcome.word()));
        report.count += 1;
        bound += u64::from(matches!(outcome, Outcome::Admitted(_)));
        if said != right {
            let asked = format!("over what {maker:?} connected {user:?} heard");
            report.violation(format!("{asked} {said:?}, {right:?} is right"));
        }
        wanted.extend(audit::wanted(name, outcome, maker, making.pid(), place));
    }
    // Whoever connected goes: what it was judged for goes with it, as soon as the server asks,
    // which it does when anything happens.
    end(&mut making)?;
    using.go()?;
    let (said, right) = (using.line()?, format!("over {bound}"));
    report.count += 1;
    if said != right {
        let gone = format!("when {maker:?} had gone, {user:?} said");
        report.violation(format!("{gone} {said:?}, {right:?} is right"));
    }
    end(&mut using)?;
    end(&mut judge)?;
    let found = audit::read(directory.path())?;
    let differences = audit::differences(&found, &wanted);
    differences.into_iter().for_each(|difference| report.violation(difference));
    Ok(wanted.iter().filter(|record| record.event != "revoked").count() as u64)
}

fn made_by_another(report: &mut Report, maker: Importer, user: Importer) -> Result<u64, Stopped> {
    let (place, directory) = (&PLACES[0], place()?);
    let mut judge = place.start(directory.path())?;
    let mut using = user.start(&[], Part::Present, directory.path(), "")?;
    let mut making = maker.start(&[], Part::Pair, directory.path(), "")?;
    let said = using.line()?;
    end(&mut making)?;
    end(&mut using)?;
    end(&mut judge)?;
    let records = audit::read(directory.path())?;
    let mut introduced = records.iter().filter(|record| record.giver_uid.is_some());
    let introduced = introduced.find(|record| record.event == "bound");
    let named =
        introduced.map(|record| (record.uid, record.pid, record.giver_uid, record.rule.as_deref()));
    let right = (Some(maker.uid), Some(making.pid()), Some(user.uid), Some("introduced"));
    report.count += 1;
    if said != "admitted" || named != Some(right) {
        let what = format!("introduced by {user:?} over a pair that {maker:?} made");
        report.violation(format!("{what}: {said:?}, written down {named:?}, not {right:?}"));
    }
    Ok(1)
}

/// Ends a player, which must have done what it was to do.
fn end(player: &mut Player) -> Result<(), Stopped> {
    player.end()?.wrong(None).map_or(Ok(()), |wrong| Err(wrong.into()))
}

/// Connects to each policy's socket, and hands all of them over; [`Part::Connect`].
pub fn connect(directory: &Path) {
    let over = hand::connect(&handover(directory)).expect("somebody listens");
    println!("ready");
    for name in policies::names() {
        let connected = hand::connect(&hand::path_of(directory, name));
        let connected: Vec<OwnedFd> = connected.into_iter().map(OwnedFd::from).collect();
        hand::send(&over, name.as_bytes(), &connected).expect("room for a packet");
    }
    wait();
}

/// Makes two connected sockets, and hands both over; [`Part::Pair`].
pub fn pair(directory: &Path) {
    let over = hand::connect(&handover(directory)).expect("somebody listens");
    println!("ready");
    let (first, second) = Stream::pair().expect("a pair");
    hand::send(&over, b"pair", &[first.into(), second.into()]).expect("room for a packet");
    wait();
}

/// Imports over every socket that it is given; [`Part::Use`].
pub fn use_connected(directory: &Path) {
    let over = accepted(directory);
    let mut bound = Vec::new();
    for name in policies::names() {
        let (named, mut sockets) = given(&over);
        assert_eq!(named, name.as_bytes());
        let said = match sockets.pop() {
            None => "barred".to_owned(),
            Some(socket) => {
                let stream = Stream::from_descriptor(socket).expect("an end of a connection");
                let said = import_over(&stream, false);
                if said == "admitted" {
                    bound.push(stream);
                }
                said
            }
        };
        println!("{name} {said}");
    }
    io::stdin().read_line(&mut String::new()).expect("standard input");
    let first =
        policies::names().find_map(|name| hand::connect(&hand::path_of(directory, name)).ok());
    let over = bound.iter().filter(|stream| hand::await_hang_up(stream, TIMEOUT).is_some());
    println!("over {}", over.count());
    drop(first);
    wait();
}

/// Binds, has itself introduced, and comes there over a pair that it is given; [`Part::Present`].
pub fn present(directory: &Path) {
    let over = accepted(directory);
    let domain = Domain::new().expect("a domain");
    let options = import_options(directory);
    let binding = Binding::import_with(&domain, "anybody", &EFFECTS, options).expect("a binding");
    let (_, mut pair) = given(&over);
    let introduction = binding.introduce().expect("room for an introduction");
    let introduction = Stream::from_descriptor(introduction).expect("an end of a connection");
    let (presented, kept) = (pair.remove(0), pair.remove(0));
    let message = hand::packet(&Message::Present);
    hand::send(&introduction, &message, &[presented]).expect("room for a packet");
    let kept = Stream::from_descriptor(kept).expect("an end of a connection");
    println!("{}", import_over(&kept, true));
    wait();
}

/// The one who hands sockets over.
fn accepted(directory: &Path) -> Stream {
    let path = handover(directory);
    let listener = Listener::bind(&path).expect("a socket");
    std::fs::set_permissions(path, Permissions::from_mode(0o666)).expect("its own file");
    println!("ready");
    accept(&listener)
}

/// The next one who connects.
pub fn accept(listener: &Listener) -> Stream {
    let longest = TIMEOUT.try_into().expect("a few seconds");
    poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&longest)).expect("a socket");
    listener.accept().expect("a socket").expect("somebody who connects")
}

/// What is handed over next.
fn given(over: &Stream) -> (Vec<u8>, Vec<OwnedFd>) {
    let mut packet = [0; 64];
    let received = over.receive(&mut packet, 2, TIMEOUT).expect("a packet");
    let sockets = received.descriptors.into_iter().map(|socket| socket.take());
    (packet[..received.bytes].to_vec(), sockets.collect())
}

/// Asks for a binding, and says what came of it.
pub fn import_over(stream: &Stream, is_introduced: bool) -> String {
    let (heads, requests) = (hand::heads().expect("memory"), hand::requests().expect("memory"));
    let message = hand::packet(&hand::import_of(&EFFECTS, is_introduced));
    if let Err(error) = hand::send(stream, &message, &[heads, requests]) {
        return error.to_string();
    }
    let packet = match hand::hear(stream, TIMEOUT) {
        Heard::Packet(packet) => packet,
        other => return format!("{other:?}"),
    };
    assert!(packet.len() <= PACKET_BYTES_MAX);
    match Message::decode(&packet) {
        Ok(Message::Bound { .. }) => "admitted".to_owned(),
        Ok(Message::Refused { code: RefusalCode::NotAdmitted, .. }) => "refused".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Until its input ends.
fn wait() {
    io::copy(&mut io::stdin(), &mut io::sink()).expect("standard input");
}
