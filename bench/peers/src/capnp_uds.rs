//! Cap'n Proto over a Unix socket.

use std::hint::black_box;
use std::rc::Rc;

use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::twoparty::VatNetwork;
use capnp_rpc::{RpcSystem, new_client};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::call::{self, Call, Failure};
use crate::server::ready;
use crate::walked;

use calls_capnp::calls;

/// What the compiler made of `calls.capnp`. Not ours to mend, so not ours to be told of.
#[allow(clippy::all)]
mod calls_capnp {
    include!(concat!(env!("OUT_DIR"), "/calls_capnp.rs"));
}

/// Of capnp-rpc.
pub const VERSION: &str = env!("CAPNP_RPC_VERSION");

struct Procedures;

/// The client's side.
pub struct Client(calls::Client);

impl calls::Server for Procedures {
    async fn null(
        self: Rc<Self>,
        _: calls::NullParams,
        _: calls::NullResults,
    ) -> Result<(), capnp::Error> {
        walked::mark();
        Ok(())
    }

    async fn add(
        self: Rc<Self>,
        arguments: calls::AddParams,
        mut results: calls::AddResults,
    ) -> Result<(), capnp::Error> {
        let terms = arguments.get()?;
        results.get().set_sum(terms.get_a().wrapping_add(terms.get_b()));
        Ok(())
    }

    async fn bytes_in(
        self: Rc<Self>,
        arguments: calls::BytesInParams,
        _: calls::BytesInResults,
    ) -> Result<(), capnp::Error> {
        black_box(arguments.get()?.get_octets()?);
        Ok(())
    }

    async fn big_in_out(
        self: Rc<Self>,
        arguments: calls::BigInOutParams,
        mut results: calls::BigInOutResults,
    ) -> Result<(), capnp::Error> {
        let octets = arguments.get()?.get_octets()?;
        let out = results.get().init_octets(octets.len() as u32);
        out.copy_from_slice(octets);
        call::step(out);
        Ok(())
    }

    async fn pfs_write(
        self: Rc<Self>,
        arguments: calls::PfsWriteParams,
        mut results: calls::PfsWriteResults,
    ) -> Result<(), capnp::Error> {
        let write = arguments.get()?;
        let (handle, pos, len) = (write.get_handle(), write.get_pos(), write.get_len());
        let numbers = write.get_numbers()?.len();
        results.get().set_pos(walked::moved(handle, pos, len, numbers as usize));
        Ok(())
    }
}

/// One side of the socket.
fn network(stream: UnixStream, side: Side) -> Box<VatNetwork<impl futures::AsyncRead + Unpin>> {
    let (read, write) = stream.into_split();
    Box::new(VatNetwork::new(read.compat(), write.compat_write(), side, Default::default()))
}

/// Serves on a socket.
pub async fn serve(address: &str) -> Result<(), Failure> {
    let listener = UnixListener::bind(address)?;
    ready()?;
    loop {
        let (stream, _) = listener.accept().await?;
        let procedures: calls::Client = new_client(Procedures);
        let system = RpcSystem::new(network(stream, Side::Server), Some(procedures.client));
        tokio::task::spawn_local(system);
    }
}

/// The client of that server.
pub async fn connect(address: &str) -> Result<Client, Failure> {
    let stream = UnixStream::connect(address).await?;
    let mut system = RpcSystem::new(network(stream, Side::Client), None);
    let client = system.bootstrap(Side::Server);
    tokio::task::spawn_local(system);
    Ok(Client(client))
}

impl call::Client for Client {
    async fn call(&mut self, call: Call, octets: &[u8]) -> Result<(), Failure> {
        let Client(client) = self;
        match call {
            Call::Null => drop(client.null_request().send().promise.await?),
            Call::Add => {
                let mut request = client.add_request();
                request.get().set_a(black_box(2));
                request.get().set_b(black_box(3));
                let response = request.send().promise.await?;
                call::check(response.get()?.get_sum() == 5)?;
            }
            Call::BytesIn(_) => {
                let mut request = client.bytes_in_request();
                request.get().set_octets(octets);
                request.send().promise.await?;
            }
            Call::BigInOut => {
                let mut request = client.big_in_out_request();
                request.get().set_octets(octets);
                let response = request.send().promise.await?;
                call::check(response.get()?.get_octets()?[0] == octets[0] + 1)?;
            }
        }
        Ok(())
    }

    async fn pfs_write(&mut self, pos: i32, numbers: &[i32]) -> Result<i32, Failure> {
        let Client(client) = self;
        let mut request = client.pfs_write_request();
        let mut write = request.get();
        write.set_handle(walked::HANDLE);
        write.set_pos(pos);
        write.set_len(numbers.len() as i32);
        write.set_numbers(numbers)?;
        let response = request.send().promise.await?;
        Ok(response.get()?.get_pos())
    }
}
