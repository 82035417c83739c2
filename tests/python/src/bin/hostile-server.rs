//! A server that breaks the interface's promises: each procedure replies with what is no value of
//! its results. A client of any language must end such a call with an error that says so.
//!
//! `hostile-server NAME` exports until its standard input ends.

#![forbid(unsafe_code)]

use std::io::Read;

use nearcall::raw::{Arguments, Entries, Outcome};
use nearcall::{Clerk, Domain, InterfaceDescriptor};
use python_tests::shapes::SHAPES;

struct Hostile;

impl Entries for Hostile {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &SHAPES
    }

    /// Lies about the results of the procedure of this name; the first argument's low byte says
    /// which lie, where a procedure has several.
    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let which = arguments.get_u32::<0>();
        let mut results = arguments.results();
        match SHAPES.procedures[procedure].name {
            // An exception that it cannot raise.
            "null" => results.raise(1, 0),
            // A message that ends before it begins.
            "text" => results.reply(0),
            // Text that is not UTF-8, or longer than the message.
            "bytes" => {
                results.put_u32::<0>(u32::MAX);
                results.reply(4)
            }
            // The words, all ones: a boolean of 255, and no enumerator.
            "words" => {
                results.put_bytes::<0>(&[0xff; 48]);
                results.reply(48)
            }
            // More elements than bytes.
            "scale" => {
                results.put_u32::<0>(1 << 20);
                let mut variable = results.variable::<8>(8)?;
                variable.put(&[0; 8]);
                results.reply(4)
            }
            // A list of trees that goes on for longer than its bytes, or deeper than is read.
            "grow" => {
                let deep = [[1, 0, 0, 0, 1, 0, 0, 0]; 200].concat();
                results.put_u32::<0>(deep.len() as u32);
                let mut variable = results.variable::<8>(deep.len() as u64)?;
                variable.put(&deep);
                results.reply(4)
            }
            // Text in a union that is over its bound, or is no text.
            "choose" => {
                let text: &[u8] = if which == 13 { b"\xff\xfe" } else { b"longer" };
                let head = [3u32.to_le_bytes(), (text.len() as u32).to_le_bytes()].concat();
                let bytes = [&head, text].concat();
                results.put_u32::<0>(bytes.len() as u32);
                let mut variable = results.variable::<8>(bytes.len() as u64 + 8)?;
                variable.put(&bytes);
                results.reply(4)
            }
            // Out of its range.
            "percent" => {
                results.put_u32::<0>(101);
                results.reply(4)
            }
            // A number of an exception that is not declared.
            "swap" => results.raise(3, 0),
            _ => results.reply(0),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("usage: hostile-server NAME")?;
    let domain = Domain::new()?;
    let _clerk = Clerk::export(&domain, &name, Hostile)?;
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
