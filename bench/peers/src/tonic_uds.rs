//! tonic over a Unix socket.

use std::hint::black_box;

use hyper_util::rt::TokioIo;
use tokio::net::{UnixListener, UnixStream};
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Request, Response, Status};

use crate::call::{self, Call, Failure};
use crate::server::ready;
use crate::walked;

use stubs::calls_client::CallsClient;
use stubs::calls_server::{Calls, CallsServer};
use stubs::{Nothing, Octets, Position, Sum, Terms, Write};

/// What the compiler made of `calls.proto`.
mod stubs {
    tonic::include_proto!("calls");
}

/// Of tonic.
pub const VERSION: &str = env!("TONIC_VERSION");

struct Procedures;

/// The client's side.
pub struct Client(CallsClient<Channel>);

#[tonic::async_trait]
impl Calls for Procedures {
    async fn null(&self, _: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        walked::mark();
        Ok(Response::new(Nothing {}))
    }

    async fn add(&self, terms: Request<Terms>) -> Result<Response<Sum>, Status> {
        let Terms { a, b } = terms.into_inner();
        Ok(Response::new(Sum { sum: a.wrapping_add(b) }))
    }

    async fn bytes_in(&self, octets: Request<Octets>) -> Result<Response<Nothing>, Status> {
        black_box(octets.into_inner().octets);
        Ok(Response::new(Nothing {}))
    }

    async fn big_in_out(&self, octets: Request<Octets>) -> Result<Response<Octets>, Status> {
        let mut octets = octets.into_inner();
        call::step(&mut octets.octets);
        Ok(Response::new(octets))
    }

    async fn pfs_write(&self, write: Request<Write>) -> Result<Response<Position>, Status> {
        let Write { handle, pos, len, numbers } = write.into_inner();
        Ok(Response::new(Position { pos: walked::moved(handle, pos, len, numbers.len()) }))
    }
}

/// Serves on a socket.
pub async fn serve(address: &str) -> Result<(), Failure> {
    let listener = UnixListenerStream::new(UnixListener::bind(address)?);
    ready()?;
    let server = tonic::transport::Server::builder().add_service(CallsServer::new(Procedures));
    Ok(server.serve_with_incoming(listener).await?)
}

/// The client of that server.
pub async fn connect(address: &str) -> Result<Client, Failure> {
    let address = address.to_owned();
    // The name goes into a header and nowhere else.
    let endpoint = Endpoint::try_from("http://calls")?;
    let connector = tower::service_fn(move |_: Uri| {
        let stream = UnixStream::connect(address.clone());
        async { stream.await.map(TokioIo::new) }
    });
    Ok(Client(CallsClient::new(endpoint.connect_with_connector(connector).await?)))
}

impl call::Client for Client {
    async fn call(&mut self, call: Call, octets: &[u8]) -> Result<(), Failure> {
        let Client(client) = self;
        match call {
            Call::Null => drop(client.null(Nothing {}).await?),
            Call::Add => {
                let sum = client.add(black_box(Terms { a: 2, b: 3 })).await?;
                call::check(sum.into_inner().sum == 5)?;
            }
            Call::BytesIn(_) => {
                client.bytes_in(Octets { octets: octets.to_vec() }).await?;
            }
            Call::BigInOut => {
                let out = client.big_in_out(Octets { octets: octets.to_vec() }).await?;
                call::check(out.into_inner().octets[0] == octets[0] + 1)?;
            }
        }
        Ok(())
    }

    async fn pfs_write(&mut self, pos: i32, numbers: &[i32]) -> Result<i32, Failure> {
        let Client(client) = self;
        let (handle, len) = (walked::HANDLE, numbers.len() as i32);
        let write = Write { handle, pos, len, numbers: numbers.to_vec() };
        Ok(client.pfs_write(write).await?.into_inner().pos)
    }
}
