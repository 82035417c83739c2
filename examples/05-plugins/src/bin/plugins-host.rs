//! `plugins-host KIND...`: each line of standard input goes through these plug-ins, one after the
//! other. One that fails is left out, and said so.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::BufRead;

use nearcall::Domain;
use plugins_example::PlugIn;

fn main() {
    if let Err(error) = host() {
        eprintln!("plugins-host: {error}");
        std::process::exit(1);
    }
}

fn host() -> Result<(), Box<dyn Error>> {
    let kinds: Vec<String> = std::env::args().skip(1).collect();
    if kinds.is_empty() {
        return Err("usage: plugins-host KIND..., of reverse, upper, fragile and stuck".into());
    }
    let program = std::env::current_exe()?.with_file_name("plugin");
    let domain = Domain::new()?;
    let start = |kind: &String| {
        let started = PlugIn::start(&domain, program.clone(), kind);
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
