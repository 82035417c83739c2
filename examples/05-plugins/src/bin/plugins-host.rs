//! `plugins-host [--within SECONDS] KIND...`: each line of standard input goes through these
//! plug-ins, one after the other, each of which has 3 seconds, or as many as are told. One that
//! fails is left out, and said so.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::BufRead;
use std::time::Duration;

use nearcall::Domain;
use plugins_example::PlugIn;

/// How long a plug-in has for a line, if nothing else is told.
const DEADLINE: Duration = Duration::from_secs(3);

const USAGE: &str =
    "usage: plugins-host [--within SECONDS] KIND..., of reverse, upper, fragile and stuck";

fn main() {
    if let Err(error) = host() {
        eprintln!("plugins-host: {error}");
        std::process::exit(1);
    }
}

fn host() -> Result<(), Box<dyn Error>> {
    let mut kinds: Vec<String> = std::env::args().skip(1).collect();
    let mut deadline = DEADLINE;
    if let [option, seconds, ..] = &kinds[..]
        && option == "--within"
    {
        let whole = seconds.parse().map_err(|_| format!("{seconds:?} is no number of seconds"))?;
        deadline = Duration::from_secs(whole);
        kinds.drain(..2);
    }
    if kinds.is_empty() {
        return Err(USAGE.into());
    }
    let program = std::env::current_exe()?.with_file_name("plugin");
    let domain = Domain::new()?;
    let start = |kind: &String| {
        let started = PlugIn::start(&domain, program.clone(), kind, deadline);
        started.map_err(|error| format!("{kind}: {error}"))
    };
    let mut plug_ins = kinds.iter().map(start).collect::<Result<Vec<_>, _>>()?;
    for line in std::io::stdin().lock().lines() {
        let mut text = line?;
        for plug_in in &mut plug_ins {
            match plug_in.apply(&text) {
                Ok(filtered) => text = filtered,
                Err(said) => println!("  {} {said}", plug_in.kind()),
            }
        }
        println!("{text}");
    }
    Ok(())
}
