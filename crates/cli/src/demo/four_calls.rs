//! What is measured: the interface of `calls.idl`, a server that does what it says, a client.

use std::hint::black_box;
use std::path::Path;

use nearcall::name::Scope;
use nearcall::raw::Entries;
use nearcall::{Binding, CallError, Domain, ImportOptions};

use super::server;
use super::timing::Repetition;
use crate::failure::Failure;

use self::four_calls::{Big, CALLS, CallsClient, CallsEntries, CallsServer};

include!(concat!(env!("OUT_DIR"), "/calls.rs"));

/// One of the four.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    Null,
    Add,
    BigIn,
    BigInOut,
}

/// A binding to the server of the four calls.
pub struct FourCalls {
    client: CallsClient,
}

struct Server;

impl CallsServer for Server {
    fn null(&self) {}

    fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    fn big_in(&self, bytes: &Big) {
        black_box(bytes);
    }

    fn big_in_out(&self, bytes: &mut Big) {
        black_box(bytes);
    }
}

/// For the server to export.
pub fn entries() -> impl Entries {
    CallsEntries::new(Server)
}

impl Call {
    /// All of them, as LRPC's Table IV has them.
    pub const ALL: [Call; 4] = [Call::Null, Call::Add, Call::BigIn, Call::BigInOut];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Call::Null => "null",
            Call::Add => "add",
            Call::BigIn => "bigin",
            Call::BigInOut => "biginout",
        }
    }
}

impl FourCalls {
    /// Binds, and sees that results are right.
    pub fn import(domain: &Domain, names: &Path) -> Result<FourCalls, Failure> {
        let mut options = ImportOptions::default();
        options.scopes = Some(vec![Scope::Directory(names.to_owned())]);
        let binding = Binding::import_with(domain, server::CALLS, &CALLS, options);
        let binding = binding.map_err(|error| format!("cannot bind to the calls: {error}"))?;
        let client = CallsClient::new(binding);
        let mut big: Big = std::array::from_fn(|index| index as u8);
        let sent = big;
        client.big_in_out(&mut big).map_err(failed)?;
        match client.add(2, 3).map_err(failed)? {
            5 if big == sent => Ok(FourCalls { client }),
            _ => Err("a call came back with wrong results".into()),
        }
    }

    /// Times one of them.
    pub fn p50_ns(&self, call: Call, repetition: Repetition) -> Result<f64, Failure> {
        let client = &self.client;
        let mut big = [7; 200];
        match call {
            Call::Null => repetition.p50_ns(|| client.null().map_err(failed)),
            Call::Add => repetition.p50_ns(|| {
                black_box(client.add(black_box(2), black_box(3)).map_err(failed)?);
                Ok(())
            }),
            Call::BigIn => repetition.p50_ns(|| client.big_in(black_box(&big)).map_err(failed)),
            Call::BigInOut => {
                repetition.p50_ns(|| client.big_in_out(black_box(&mut big)).map_err(failed))
            }
        }
    }
}

fn failed(error: CallError) -> Failure {
    error.to_string().into()
}
