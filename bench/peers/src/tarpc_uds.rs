//! tarpc over a Unix socket, in bincode.

use std::hint::black_box;

use futures::StreamExt;
use serde_bytes::ByteBuf;
use tarpc::context::{self, Context};
use tarpc::serde_transport::unix;
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;

use crate::call::{self, Call, Failure};
use crate::server::ready;

/// Of tarpc.
pub const VERSION: &str = env!("TARPC_VERSION");

#[tarpc::service]
trait Calls {
    async fn null();
    async fn add(a: i32, b: i32) -> i32;
    async fn bytes_in(octets: ByteBuf);
    async fn big_in_out(octets: ByteBuf) -> ByteBuf;
}

#[derive(Clone)]
struct Procedures;

/// The client's side.
pub struct Client(CallsClient);

impl Calls for Procedures {
    async fn null(self, _: Context) {}

    async fn add(self, _: Context, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    async fn bytes_in(self, _: Context, octets: ByteBuf) {
        black_box(octets);
    }

    async fn big_in_out(self, _: Context, mut octets: ByteBuf) -> ByteBuf {
        call::step(&mut octets);
        octets
    }
}

/// Serves on a socket.
pub async fn serve(address: &str) -> Result<(), Failure> {
    let mut incoming = unix::listen(address, Bincode::default).await?;
    ready()?;
    while let Some(transport) = incoming.next().await {
        let channel = BaseChannel::with_defaults(transport?);
        let calls = channel.execute(Procedures.serve());
        tokio::spawn(calls.for_each(|call| async {
            tokio::spawn(call);
        }));
    }
    Ok(())
}

/// The client of that server.
pub async fn connect(address: &str) -> Result<Client, Failure> {
    let transport = unix::connect(address, Bincode::default).await?;
    Ok(Client(CallsClient::new(tarpc::client::Config::default(), transport).spawn()))
}

impl call::Client for Client {
    async fn call(&mut self, call: Call, octets: &[u8]) -> Result<(), Failure> {
        let Client(client) = self;
        let context = context::current();
        match call {
            Call::Null => client.null(context).await?,
            Call::Add => {
                call::check(client.add(context, black_box(2), black_box(3)).await? == 5)?;
            }
            Call::BytesIn(_) => client.bytes_in(context, ByteBuf::from(octets)).await?,
            Call::BigInOut => {
                let out = client.big_in_out(context, ByteBuf::from(octets)).await?;
                call::check(out[0] == octets[0] + 1)?;
            }
        }
        Ok(())
    }
}
