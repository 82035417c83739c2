//! Every form that a type may have, both ways at once: one client fills a server's heap and stacks
//! with the pattern; another one, this process, fills its own with it, and calls the same server
//! with values of all types. Then neither what it has shared itself nor what the server has shared
//! with it, padding and bytes that are left over among it, may hold the pattern.

use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::{Binding, Domain};

use super::super::Setup;
use super::super::decoders::forms::{ASKS, point, words};
use super::super::player::{Player, Role};
use super::super::report::{Report, Stopped};
use super::PATTERN;
use super::servers::{fill_stack, leave_freed, pattern, seen_in};
use crate::forms::forms::{Color, FORMS, FormsClient, Point};
use crate::server::import_options;

const NAME: &str = "formed";

const LOOKS: u64 = 50;
const LOOKS_AT_NIGHT: u64 = 5_000;

/// Looks at one binding: what a new one begins with is looked at as well.
const LOOKS_OF_BINDING: u64 = 5;

/// What the filler says when it has filled once more.
const FILLED: &str = "filled";

/// How soon what was shown on purpose is unmapped.
const FORGOTTEN: Duration = Duration::from_secs(5);

/// Calls, looks.
pub fn run(setup: &Setup, report: &mut Report) -> Result<(), Stopped> {
    let directory = tempfile::tempdir()?;
    let path = directory.path();
    let mut server = Player::start(Role::Mirror, path, NAME, "")?;
    let mut filler = Player::start(Role::Fill, path, NAME, "")?;
    let domain = Domain::new()?;
    show(&domain, path)?;
    let (mut bytes, mut client) = (0, bind(&domain, path)?);
    for look in 0..if setup.is_nightly { LOOKS_AT_NIGHT } else { LOOKS } {
        if look % LOOKS_OF_BINDING == 0 {
            client = bind(&domain, path)?;
        }
        for ask in ASKS {
            (24..400).step_by(16).for_each(leave_freed);
            fill_stack();
            ask(&client);
            report.count += 1;
        }
        let (seen, read) = seen_here()?;
        bytes += read;
        if let Some(place) = seen {
            let form = "between a client and a server of every form of type";
            report.violation(format!("after {look} looks the pattern stands {form} in {place}"));
            break;
        }
        // What was asked may be refused; that there was somebody who could answer is looked at.
        client.null()?;
        // It fills once for each line.
        filler.go()?;
        let said = filler.line()?;
        if said != FILLED {
            return Err(format!("who fills the server said {said:?}").into());
        }
    }
    report.figure(format!("{} forms, {} MiB between two sides", ASKS.len(), bytes >> 20));
    if bytes == 0 {
        report.violation("nothing is shared with a server of every form of type");
    }
    drop(client);
    report.violations.extend(filler.end()?.wrong(None));
    report.violations.extend(server.end()?.wrong(None));
    Ok(())
}

fn bind(domain: &Domain, directory: &Path) -> Result<FormsClient, Stopped> {
    let options = import_options(directory);
    Ok(FormsClient::new(Binding::import_with(domain, NAME, &FORMS, options)?))
}

/// The pattern would be found if it had been sent, and is gone with its binding.
fn show(domain: &Domain, directory: &Path) -> Result<(), Stopped> {
    let shown = bind(domain, directory)?;
    shown.bytes(&pattern(8), &mut Vec::new())?;
    if seen_here()?.0.is_none() {
        return Err("the pattern is not found where it is".into());
    }
    drop(shown);
    let begin = Instant::now();
    while seen_here()?.0.is_some() {
        if begin.elapsed() > FORGOTTEN {
            return Err("what a client has let go of is still mapped".into());
        }
    }
    Ok(())
}

/// As [`seen_in`], of what this process shares with anybody.
fn seen_here() -> Result<(Option<String>, u64), Stopped> {
    seen_in(std::process::id(), &File::open("/proc/self/mem")?)
}

/// Calls with the pattern, once for each line of its input: the role of [`Role::Fill`].
pub fn fill(directory: &Path, name: &str) {
    assert_eq!(name, NAME);
    let domain = Domain::new().expect("a domain");
    let client = bind(&domain, directory).expect("a binding");
    send(&client);
    println!("ready");
    for _ in io::stdin().lock().lines() {
        send(&client);
        println!("{FILLED}");
    }
}

/// Calls full of the pattern, of several lengths.
fn send(client: &FormsClient) {
    let x = f64::from_bits(PATTERN);
    let filled = || Point { x, ..point() };
    for words_count in [1, 5, 40, 150, 1_000, 20_000] {
        let data = pattern(words_count);
        client.bytes(&data, &mut pattern(words_count.min(12))).expect("a call");
        client.sum(&data[..]).expect("a call");
        let mut key = [0; 16];
        key[..8].copy_from_slice(&PATTERN.to_le_bytes());
        client.numbers(&[1, 2], &mut vec![x; words_count.min(20)], &mut key).expect("a call");
        client.points(&vec![filled(); words_count], &mut Vec::new()).expect("a call");
        client.images(&[true; 3], &mut words(Color::Red), &mut filled()).expect("a call");
    }
}
