//! The client's process: makes the calls that it is asked for, and says how long they took.
//!
//! ```text
//! standard output: ready VERSION
//! standard input:  CASE WARM_UP BATCHES BATCH     and so on, until it ends
//! standard output: ns ns ns …                     one number for each batch
//! ```
//!
//! An order that begins with `calls` is one of `walked`.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::processor;

use crate::call::{BYTES_MAX, Call, Client, Failure};
use crate::{capnp_uds, iceoryx, tarpc_uds, thrift_uds, tonic_uds, walked};

/// The server's process. Dropping it ends it.
pub struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    mark: usize,
}

/// What is asked for in one line.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    call: Call,
    warm_up: u32,
    batches: u32,
    batch: u32,
}

/// Plays the client of `subject` on processor `here`, with a server on processor `there`.
pub fn play(subject: &str, here: u32, there: u32) -> Result<(), Failure> {
    processor::pin(here)?;
    let directory = tempfile::tempdir()?;
    let address = directory.path().join("calls");
    let address = address.to_str().ok_or("the directory has no name in Unicode")?;
    let mut server = Server::start(subject, here, there, address)?;
    let server = &mut server;
    let is_shared = here == there;
    match subject {
        "iceoryx2-poll" => {
            let client = iceoryx::polling(address, is_shared)?;
            futures::executor::block_on(answer(client, server, iceoryx::VERSION))
        }
        "iceoryx2-event" => {
            let client = iceoryx::event_driven(address)?;
            futures::executor::block_on(answer(client, server, iceoryx::VERSION))
        }
        "tonic-uds" => on_this_thread(async {
            answer(tonic_uds::connect(address).await?, server, tonic_uds::VERSION).await
        }),
        "tarpc-uds" => on_this_thread(async {
            answer(tarpc_uds::connect(address).await?, server, tarpc_uds::VERSION).await
        }),
        "capnp-uds" => on_this_thread(async {
            answer(capnp_uds::connect(address).await?, server, capnp_uds::VERSION).await
        }),
        "thrift-uds" => {
            let client = thrift_uds::connect(address)?;
            futures::executor::block_on(answer(client, server, thrift_uds::VERSION))
        }
        _ => Err(format!("there is no subject {subject}").into()),
    }
}

/// Runs it to its end, with whatever it starts, on the calling thread alone: on one or two
/// processors a runtime of several threads is slower by what waking them costs.
pub fn on_this_thread(run: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, run)
}

/// Answers order after order.
async fn answer(
    mut client: impl Client,
    server: &mut Server,
    version: &str,
) -> Result<(), Failure> {
    let octets = vec![7; BYTES_MAX];
    client.begin(server)?;
    for call in [Call::Add, Call::BigInOut] {
        client.call(call, &octets[..call.bytes()]).await?;
    }
    client.end()?;
    println!("ready {version}");
    for line in io::stdin().lock().lines() {
        let line = line?;
        if let Some(words) = line.strip_prefix("calls ") {
            println!("{}", walked::obey(&mut client, server, words).await?);
            continue;
        }
        let order = Order::read(&line)?;
        client.begin(server)?;
        let times = time(&mut client, &order, &octets[..order.call.bytes()]).await?;
        client.end()?;
        let times: Vec<String> = times.iter().map(u64::to_string).collect();
        println!("{}", times.join(" "));
    }
    client.finish()
}

/// Makes the calls of an order; nanoseconds of each batch.
async fn time(client: &mut impl Client, order: &Order, octets: &[u8]) -> Result<Vec<u64>, Failure> {
    let mut batches_ns = Vec::with_capacity(order.batches as usize);
    for _ in 0..order.warm_up {
        client.call(order.call, octets).await?;
    }
    for _ in 0..order.batches {
        let start = Instant::now();
        for _ in 0..order.batch {
            client.call(order.call, octets).await?;
        }
        batches_ns.push(start.elapsed().as_nanos() as u64);
    }
    Ok(batches_ns)
}

impl Order {
    fn read(line: &str) -> Result<Order, Failure> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [case, warm_up, batches, batch] = words[..] else {
            return Err(format!("`{line}` is not CASE WARM_UP BATCHES BATCH").into());
        };
        let call = Call::of_case(case).ok_or_else(|| format!("there is no case {case}"))?;
        let (warm_up, batches, batch) = (warm_up.parse()?, batches.parse()?, batch.parse()?);
        Ok(Order { call, warm_up, batches, batch })
    }
}

impl Server {
    /// Starts it and waits until it is ready.
    fn start(subject: &str, here: u32, there: u32, address: &str) -> Result<Server, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--server", subject, &here.to_string(), &there.to_string(), address]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or("a child has its output")?;
        let mut server = Server { process, input, output: BufReader::new(output), mark: 0 };
        let mut line = String::new();
        server.output.read_line(&mut line)?;
        let mark = line.strip_prefix("ready ").and_then(|mark| mark.trim_end().parse().ok());
        server.mark = mark.ok_or_else(|| format!("the server of {subject} did not start"))?;
        Ok(server)
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Where its calls are marked.
    pub fn mark(&self) -> usize {
        self.mark
    }

    /// Wakes it, if it polls only while it is asked to.
    pub fn wake(&mut self) -> Result<(), Failure> {
        let input = self.input.as_mut().ok_or("a server has its input until it is dropped")?;
        input.write_all(b"\n")?;
        Ok(input.flush()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends with its input.
        self.input = None;
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_case_and_three_numbers() {
        let want = Order { call: Call::BytesIn(4096), warm_up: 16, batches: 200, batch: 64 };
        assert_eq!(Order::read("4k 16 200 64").unwrap(), want);
    }

    #[test]
    fn another_order_is_refused() {
        for line in ["", "null 1 2", "null 1 2 3 4", "nil 1 2 3", "null 1 2 x"] {
            assert!(Order::read(line).is_err(), "{line}");
        }
    }
}
