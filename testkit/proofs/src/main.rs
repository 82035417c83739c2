//! Claims: what holds of the arithmetic that decides by words of a peer, or by what its users hold,
//! whatever the values are. Row T12 of the campaign proves them: `prove.py` follows every path of
//! each as it was compiled, with all values at once, and none may end in a panic. An overflow is
//! one, here.
//!
//! ```text
//! proofs                  their names, and whether each is true
//! proofs NAME HEX         the claim about these values: what refuted one is seen to
//! ```

#![forbid(unsafe_code)]

mod any;
mod claims;
mod heads;
mod layouts;
mod packets;
mod shares;
mod times;
mod turns;
mod untrue;

use std::process::ExitCode;

use any::Any;
use claims::claims;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            for claim in claims() {
                println!("{} {}", claim.name, claim.is_true);
            }
            ExitCode::SUCCESS
        }
        [name, values] => match play(name, values) {
            Ok(is_about) => {
                println!("{name} {}", if is_about { "holds" } else { "says nothing of these" });
                ExitCode::SUCCESS
            }
            Err(error) => complain(&error),
        },
        _ => complain("usage: proofs [NAME HEX]"),
    }
}

fn complain(what: &str) -> ExitCode {
    eprintln!("proofs: {what}");
    ExitCode::FAILURE
}

fn play(name: &str, values: &str) -> Result<bool, String> {
    let claim = claims().find(|claim| claim.name == name);
    let claim = claim.ok_or_else(|| format!("no claim is called {name:?}"))?;
    let digit = |at| values.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = (0..values.len()).step_by(2).map(digit).collect();
    let bytes = bytes.filter(|bytes| bytes.len() <= Any::BYTES);
    let bytes = bytes.ok_or_else(|| {
        format!("{values:?} is not the digits of at most {} bytes, two each", Any::BYTES)
    })?;
    Ok((claim.holds)(&mut Any::of(&bytes)))
}
