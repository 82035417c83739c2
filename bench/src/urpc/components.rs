//! What a call from a FastThread is made of, as URPC's Table II has it: instructions, counted by
//! single steps (`counts`), of a client that has one FastThread and a server that is awake.
//!
//! | component | client | server |
//! |---|---|---|
//! | `send` | claim, fill the head, swap the turn word | the same for the reply |
//! | `poll` | with `dispatch`: wait, be idle, look | from the reply to the next look |
//! | `receive` | judge the reply, release, return | take, judge, enter the entry stub |
//! | `dispatch` | with `poll` | with `receive` |
//!
//! The paper's four are three here on each side: an idle processor polls in the context of the
//! thread that waits (U28), so that there is no instruction between the two to tell them apart by.
//! What the paper's server dispatches to a thread of its own runs here where it was found.

use std::path::Path;
use std::sync::Arc;

use nearcall::Domain;
use nearcall_os::processor;
use nearcall_threads::run;

use crate::calls::import;
use crate::calls::stubs::calls::CallsClient;
use crate::child::{Failure, Link};
use crate::counts::{self, CALL, NOTE, WARM_UP, own_thread, patient};
use crate::table::{Named, Table};

use super::FAST;

/// The role of the client that is stepped.
pub const ROLE: &str = "urpc-counted-client";

/// The name of the cases, before the component.
const CASE: &str = "component";

/// The components, and the parts of a stepped call (`counts`) that they are.
const COMPONENTS: [(&str, &str); 7] = [
    ("client-send", "post"),
    ("client-poll+dispatch", "wait"),
    ("client-receive", "collect"),
    ("server-poll", "next"),
    ("server-receive+dispatch", "take"),
    ("server-run", "run"),
    ("server-send", "reply"),
];

/// Counts them, if this machine lets a process be stepped.
pub fn count(table: &mut Table) -> Result<(), Failure> {
    let stepped = match counts::step_null(ROLE)? {
        Ok(stepped) => stepped,
        Err(why) => {
            table.skip(CASE, FAST, why);
            return Ok(());
        }
    };
    let parts = stepped.parts();
    for (component, name) in COMPONENTS {
        let part = parts.iter().find(|(part, _)| *part == name);
        let (_, count) = part.expect("each component is a part of a call");
        let case = format!("{CASE}-{component}");
        table.count(&case, &Named::bound(FAST), "instructions", *count as f64);
    }
    Ok(())
}

#[inline(never)]
fn null(client: &CallsClient) -> Result<(), nearcall::CallError> {
    client.null()
}

/// What the client's process does: as that of `counts`, each time on a FastThread.
pub fn play(link: &Link, arguments: &[String]) -> Result<(), Failure> {
    let [directory, processor] = arguments else {
        return Err("which directory, which processor?".into());
    };
    processor::pin(processor.parse()?)?;
    let domain = Domain::with_options(patient())?;
    let client = Arc::new(import(&domain, Path::new(directory))?);
    let call = |calls: u64| -> Result<(), Failure> {
        let client = Arc::clone(&client);
        run(move || (0..calls).try_for_each(|_| null(&client)))??;
        Ok(())
    };
    call(WARM_UP.into())?;
    link.answer(0)?;
    while let Some([word, _, calls, ..]) = link.next()? {
        match word {
            NOTE => {
                client.bytes_in(&[])?;
                link.answer(own_thread())?;
            }
            CALL => call(calls)?,
            _ => link.answer(null as *const () as usize as u64)?,
        }
    }
    Ok(())
}
