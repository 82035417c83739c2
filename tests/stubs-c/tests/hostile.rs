//! Peers of C programs that send what no stub would: random words, lengths, labels and payloads.
//! Under the address and undefined behaviour sanitizers the programs answer with errors, and live.

#![forbid(unsafe_code)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use nearcall::raw::{Arguments, Client, Entries, Outcome};
use nearcall::{Binding, CallError, Clerk, Domain, InterfaceDescriptor};
use nearcall_idl::plan::{Step, plan};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use stubs_c_tests::cross::CROSS;
use support::{SANITIZED, Server, Workshop, model, run_client, sanitizing};

/// Calls that a hostile client makes.
const CALLS: u32 = 4000;

/// Where the parts of a message are.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    fixed_bytes: usize,
    variable_at: Option<usize>,
}

/// The requests, and the results and exceptions, of every procedure.
fn shapes() -> Vec<(Shape, Vec<Shape>)> {
    let model = model(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cross.idl"));
    let plan = plan(&model);
    let procedures = plan.interfaces[0].procedures.iter();
    let all = procedures.map(|procedure| {
        let replies = std::iter::once(&procedure.server.reply).chain(&procedure.server.raised);
        (shape(&procedure.client.request), replies.map(|steps| shape(steps)).collect())
    });
    all.collect()
}

fn shape(steps: &[Step]) -> Shape {
    let mut shape = Shape::default();
    for step in steps {
        match step {
            Step::Variable { at, .. } => shape.variable_at = Some(*at as usize),
            Step::PutLentLength { .. } => shape.variable_at = shape.variable_at.or(Some(48)),
            Step::Post { fixed_bytes }
            | Step::PostOneway { fixed_bytes }
            | Step::Reply { fixed_bytes }
            | Step::Raise { fixed_bytes, .. } => shape.fixed_bytes = *fixed_bytes as usize,
            _ => {}
        }
    }
    shape
}

/// Bytes that are often nearly right: small numbers, text, and sometimes anything.
fn message(random: &mut TestRng, bytes: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < bytes {
        let number = random.next_u32();
        let word = match number % 8 {
            0 | 1 => 0,
            2 => 1,
            3 => number >> 16 & 7,
            4 => number >> 16 & 63,
            5 => 0x6161_6161,
            6 => number >> 8,
            _ => number,
        };
        all.extend(word.to_le_bytes());
    }
    all.truncate(bytes);
    all
}

fn random() -> TestRng {
    TestRng::deterministic_rng(RngAlgorithm::ChaCha)
}

/// Makes one call with a random message.
fn attack(client: &Client, random: &mut TestRng, procedure: u32, shape: Shape) -> &'static str {
    let fixed = message(random, shape.fixed_bytes);
    let count = random.next_u32() as usize % 160;
    let variable = message(random, count);
    call(client, procedure, shape, &fixed, &variable)
}

/// Makes one call with a tree of so many, in four bytes each: eight more are their defaults.
fn flood(client: &Client, procedure: u32, shape: Shape, trees: u32) -> &'static str {
    let below = vec![0; trees as usize * 4];
    let members = [[7; 4], trees.to_le_bytes()].concat();
    let bytes = (members.len() + below.len()) as u32;
    let tree = [&bytes.to_le_bytes(), &members[..], &below].concat();
    call(client, procedure, shape, &(tree.len() as u32).to_le_bytes(), &tree)
}

fn call(
    client: &Client,
    procedure: u32,
    shape: Shape,
    fixed: &[u8],
    variable: &[u8],
) -> &'static str {
    let class = client.binding().interface().procedures[procedure as usize].class;
    let call = client.claim_of_class(class.into(), procedure);
    let mut call = call.expect("there is an A-stack");
    call.put_bytes::<0>(fixed);
    if let Some(at) = shape.variable_at {
        let padded = variable.len().next_multiple_of(8) as u64;
        call.variable_at(at, padded).expect("it fits").put(variable);
    }
    match call.post(shape.fixed_bytes as u32).map(|reply| reply.raised()) {
        Ok(0) => "returned",
        Ok(_) => "raised",
        Err(error) => match *error {
            CallError::NotExecuted { .. } => "arguments refused",
            CallError::ResultsRefused { .. } => "results refused",
            error => panic!("procedure {procedure}: {error}"),
        },
    }
}

#[test]
fn a_server_in_c_outlives_a_hostile_client() {
    if let Some(compiler) = sanitizing() {
        let workshop = Workshop::new();
        let program = workshop.program(compiler, "server", SANITIZED);
        let name = workshop.path().join("sockets");
        std::fs::create_dir(&name).expect("it can be made");
        let server = Server::start(&program, "prey", &name);
        let domain = Domain::new().expect("a domain");
        let mut options = nearcall::ImportOptions::default();
        options.scopes = Some(vec![nearcall::name::Scope::Directory(name.join("nearcall"))]);
        let binding = Binding::import_with(&domain, "prey", &CROSS, options).expect("it is there");
        let (client, mut random) = (Client::new(binding, &CROSS), random());
        let (shapes, mut seen) = (shapes(), BTreeMap::new());
        let oneway = CROSS.procedures.iter().position(|one| one.is_oneway).expect("there is one");
        for call in 0..CALLS {
            let procedure = call as usize % shapes.len();
            if procedure != oneway {
                let outcome = attack(&client, &mut random, procedure as u32, shapes[procedure].0);
                *seen.entry(outcome).or_insert(0) += 1;
            }
        }
        println!("{compiler}: {seen:?}");
        assert!(seen["arguments refused"] > 100 && seen["returned"] > 100, "{seen:?}");
        let grow = CROSS.procedures.iter().position(|one| one.name == "grow").expect("it is there");
        assert_eq!(flood(&client, grow as u32, shapes[grow].0, 1000), "returned");
        assert_eq!(flood(&client, grow as u32, shapes[grow].0, 3 << 20), "arguments refused");
        drop(client);
        server.end();
    }
}

/// A server that replies with random messages.
struct Hostile {
    shapes: Vec<(Shape, Vec<Shape>)>,
    random: Mutex<TestRng>,
}

impl Entries for Hostile {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &CROSS
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let mut random = self.random.lock().expect("nobody panics with it");
        let replies = &self.shapes[procedure].1;
        let raised = random.next_u32() as usize % (replies.len() + 1);
        let shape = replies.get(raised).copied().unwrap_or_default();
        let mut results = if raised == 0 { arguments.results() } else { arguments.exception() };
        results.put_bytes::<0>(&message(&mut random, shape.fixed_bytes));
        if let Some(at) = shape.variable_at {
            let count = random.next_u32() as usize % 160;
            let bytes = message(&mut random, count);
            results.variable_at(at, bytes.len().next_multiple_of(8) as u64)?.put(&bytes);
        }
        match raised {
            0 => results.reply(shape.fixed_bytes as u32),
            raised => results.raise(raised as u16, shape.fixed_bytes as u32),
        }
    }
}

#[test]
fn a_client_in_c_outlives_a_hostile_server() {
    if let Some(compiler) = sanitizing() {
        let workshop = Workshop::new();
        let program = workshop.program(compiler, "prey", SANITIZED);
        let domain = Domain::new().expect("a domain");
        let hostile = Hostile { shapes: shapes(), random: Mutex::new(random()) };
        let mut options = nearcall::ExportOptions::default();
        let sockets = workshop.path().join("nearcall");
        options.scope = Some(nearcall::name::Scope::Directory(sockets));
        let clerk = Clerk::export_with(&domain, "hostile", hostile, options).expect("it is free");
        let said = run_client(&program, "hostile", workshop.path());
        println!("{compiler}: {said}");
        drop(clerk);
    }
}
