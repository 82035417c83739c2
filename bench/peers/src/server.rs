//! The server's process: serves until its standard input ends, which it does with its parent.

use std::io::{self, Write};
use std::time::Duration;

use crate::processor;

use crate::call::Failure;
use crate::client::on_this_thread;
use crate::{capnp_uds, iceoryx, tarpc_uds, thrift_uds, tonic_uds, walked};

/// Plays the server of `subject` on processor `there`, for a client on processor `here`.
pub fn play(subject: &str, here: u32, there: u32, address: &str) -> Result<(), Failure> {
    processor::pin(there)?;
    match subject {
        "iceoryx2-poll" => iceoryx::serve_polling(address, here == there),
        "iceoryx2-event" => {
            // Its files go only if it ends by itself, which it is told to before.
            end_with_input(Duration::from_secs(1));
            iceoryx::serve_events(address)
        }
        "tonic-uds" => {
            end_with_input(Duration::ZERO);
            on_this_thread(tonic_uds::serve(address))
        }
        "tarpc-uds" => {
            end_with_input(Duration::ZERO);
            on_this_thread(tarpc_uds::serve(address))
        }
        "capnp-uds" => {
            end_with_input(Duration::ZERO);
            on_this_thread(capnp_uds::serve(address))
        }
        "thrift-uds" => thrift_uds::serve(address),
        _ => Err(format!("there is no subject {subject}").into()),
    }
}

/// Says that calls may come, and where they are marked.
pub fn ready() -> Result<(), Failure> {
    println!("ready {}", walked::mark_address());
    Ok(io::stdout().flush()?)
}

/// Ends the process when its standard input has ended for so long, whatever it does then.
fn end_with_input(grace: Duration) {
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::thread::sleep(grace);
        std::process::exit(0);
    });
}
