//! Thrift over a Unix socket: the binary protocol, buffered, which is what most of its users have.

use std::hint::black_box;
use std::os::unix::net::{UnixListener, UnixStream};

use thrift::protocol::{TBinaryInputProtocol, TBinaryOutputProtocol};
use thrift::server::TProcessor;
use thrift::transport::{
    ReadHalf, TBufferedReadTransport, TBufferedWriteTransport, TIoChannel, WriteHalf,
};

use crate::call::{self, Call, Failure};
use crate::server::ready;

use stubs::{CallsSyncClient, CallsSyncHandler, CallsSyncProcessor, TCallsSyncClient};

/// What the compiler made of `calls.thrift`. Not ours to mend, so not ours to be told of.
#[allow(clippy::all)]
#[path = "../calls.thrift.stubs"]
mod stubs;

/// Of thrift.
pub const VERSION: &str = env!("THRIFT_VERSION");

type Input = TBinaryInputProtocol<TBufferedReadTransport<ReadHalf<UnixStream>>>;
type Output = TBinaryOutputProtocol<TBufferedWriteTransport<WriteHalf<UnixStream>>>;

struct Procedures;

/// The client's side.
pub struct Client(CallsSyncClient<Input, Output>);

impl CallsSyncHandler for Procedures {
    fn handle_null(&self) -> thrift::Result<()> {
        Ok(())
    }

    fn handle_add(&self, a: i32, b: i32) -> thrift::Result<i32> {
        Ok(a.wrapping_add(b))
    }

    fn handle_bytes_in(&self, octets: Vec<u8>) -> thrift::Result<()> {
        black_box(octets);
        Ok(())
    }

    fn handle_big_in_out(&self, mut octets: Vec<u8>) -> thrift::Result<Vec<u8>> {
        call::step(&mut octets);
        Ok(octets)
    }
}

/// Both ways over one socket.
fn protocols(stream: UnixStream) -> Result<(Input, Output), Failure> {
    let (read, write) = stream.split()?;
    let input = TBinaryInputProtocol::new(TBufferedReadTransport::new(read), true);
    let output = TBinaryOutputProtocol::new(TBufferedWriteTransport::new(write), true);
    Ok((input, output))
}

/// Serves its one client on a socket, until that ends; as a thread of Thrift's own server does.
pub fn serve(address: &str) -> Result<(), Failure> {
    let listener = UnixListener::bind(address)?;
    ready()?;
    let (stream, _) = listener.accept()?;
    let (mut input, mut output) = protocols(stream)?;
    let processor = CallsSyncProcessor::new(Procedures);
    loop {
        match processor.process(&mut input, &mut output) {
            Err(thrift::Error::Transport(end))
                if end.kind == thrift::TransportErrorKind::EndOfFile =>
            {
                return Ok(());
            }
            done => done?,
        }
    }
}

/// The client of that server.
pub fn connect(address: &str) -> Result<Client, Failure> {
    let (input, output) = protocols(UnixStream::connect(address)?)?;
    Ok(Client(CallsSyncClient::new(input, output)))
}

impl call::Client for Client {
    async fn call(&mut self, call: Call, octets: &[u8]) -> Result<(), Failure> {
        let Client(client) = self;
        match call {
            Call::Null => client.null()?,
            Call::Add => call::check(client.add(black_box(2), black_box(3))? == 5)?,
            Call::BytesIn(_) => client.bytes_in(octets.to_vec())?,
            Call::BigInOut => {
                let out = client.big_in_out(octets.to_vec())?;
                call::check(out[0] == octets[0] + 1)?;
            }
        }
        Ok(())
    }
}
