//! A client that sends requests as they are, and what a server makes of them.

use std::cell::Cell;
use std::os::fd::AsFd as _;
use std::time::Duration;

use nearcall::raw::{Call, Client, DescriptorKind, Reply};
use nearcall::{
    AStackClass, AppendableDescriptor, Binding, CallError, Domain, ImportOptions,
    InterfaceDescriptor, NotExecuted, ProcedureDescriptor,
};
use nearcall_idl::model::{DeclarationId, Model};
use nearcall_idl::plan::plan;

use crate::feeds::{Carried, Numbers};
use crate::messages::{Around, Case, Form, Message};
use crate::opened::opened;
use crate::tally::Verdict;

/// What stubs of an interface would say of it. It is never given back: there are few.
pub fn descriptor(model: &Model, id: DeclarationId) -> &'static InterfaceDescriptor {
    let plan = plan(model);
    let own = plan.interfaces.iter().find(|plan| plan.id == id).expect("it has a plan");
    let (_, declaration, interface) =
        model.interfaces().find(|(other, ..)| *other == id).expect("it is there");
    let procedures = own.procedures.iter().zip(&interface.operations);
    let procedures = procedures.map(|(plan, operation)| ProcedureDescriptor {
        name: operation.name.clone().leak(),
        hash: plan.hash,
        class: plan.class,
        is_oneway: operation.is_oneway,
        is_idempotent: operation.is_idempotent,
        is_leaf: operation.is_leaf,
    });
    let appendables = own.appendables.iter().map(|plan| AppendableDescriptor {
        name: model.declaration(plan.id).name.to_string().leak(),
        procedure: plan.procedure,
        hashes: plan.hashes.clone().leak(),
    });
    let classes: Vec<AStackClass> = own.classes.clone();
    Box::leak(Box::new(InterfaceDescriptor {
        name: declaration.name.to_string().leak(),
        hash: own.hash,
        procedures: procedures.collect::<Vec<_>>().leak(),
        classes: classes.leak(),
        appendables: appendables.collect::<Vec<_>>().leak(),
    }))
}

/// How long a call may take: nothing that is sent has a reason to wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of one interface.
pub struct Attacker {
    client: Client,
    /// How many procedures have run, by what the server has replied.
    pub runs: Cell<usize>,
}

impl Attacker {
    /// Imports `name`.
    pub fn new(
        domain: &Domain,
        name: &str,
        interface: &'static InterfaceDescriptor,
        options: ImportOptions,
    ) -> Attacker {
        let binding = Binding::import_with(domain, name, interface, options);
        let binding = binding.unwrap_or_else(|error| panic!("{name}: {error}"));
        let client = Client::new(binding, interface).with_deadline(PATIENCE);
        Attacker { client, runs: Cell::new(0) }
    }

    /// Sends what a case says, and says what came of it.
    ///
    /// Whether a client waits is its own affair: what a server makes of a oneway call is heard by
    /// waiting for it. What it refuses is then sent once more without, as clients do, and must not
    /// run either.
    pub fn tell(&self, case: &Case) -> Verdict {
        let verdict = match &case.around {
            Around::Opened(numbers) => {
                let opened = self.open(&case.message, *numbers);
                verdict(opened.map(|opened| self.give_up(opened)))
            }
            Around::Carried(carried) => self.carry(case, carried),
            Around::Nothing | Around::Answers(_) => self.send(&case.message),
        };
        if case.form != Form::Oneway || verdict != Verdict::Refused {
            return verdict;
        }
        let call = self.claim(&case.message).and_then(|call| filled(call, &case.message));
        match call.and_then(|call| call.post_oneway(bytes(&case.message))) {
            Ok(()) => verdict,
            Err(error) => Verdict::Other(error.to_string()),
        }
    }

    /// Sends a message of a feed that is opened for it. If it is refused nothing has changed.
    fn carry(&self, case: &Case, carried: &Carried) -> Verdict {
        let other = |what: &str, error: &CallError| Verdict::Other(format!("{what}: {error}"));
        let opened = match self.open(&carried.opening, carried.numbers) {
            Ok(opened) => opened,
            Err(error) => return other("no feed is opened", &error),
        };
        let number = if carried.is_of_sink { opened.sink } else { Some(opened.feed) };
        let number = number.expect("what has a sink says so");
        if let (Some(end), Some(sink)) = (&carried.end, opened.sink)
            && let Err(error) = self.post(&of_feed(end, sink))
        {
            return other("its sink does not end", &error);
        }
        let verdict = verdict(self.post(&of_feed(&case.message, number)).map(drop));
        if verdict == Verdict::Refused
            && let Err(error) = self.post(&of_feed(&carried.valid, number))
        {
            return other("it is refused, and its feed is over", &error);
        }
        self.give_up(opened);
        verdict
    }

    fn open(&self, message: &Message, numbers: Numbers) -> Result<Opened, Box<CallError>> {
        let reply = self.post(message)?;
        self.runs.set(self.runs.get() + 1);
        let mut fixed = vec![0; numbers.bytes];
        reply.copy_fixed(&mut fixed);
        let [feed, sink] = [Some(numbers.feed_at), numbers.sink_at].map(|at| {
            let word = fixed.get(at?..)?.first_chunk()?;
            Some(u64::from_le_bytes(*word))
        });
        Ok(Opened { feed: feed.expect("a feed has a number"), sink })
    }

    fn give_up(&self, opened: Opened) {
        let all = std::iter::once(opened.feed).chain(opened.sink);
        all.for_each(|number| self.client.give_up_feed(number));
    }

    /// Whether the server has ended what it was lied to over.
    pub fn is_revoked(&self) -> bool {
        self.client.binding().is_revoked()
    }

    fn claim<'d>(&self, message: &Message) -> Result<Call<'_, 'd>, Box<CallError>> {
        let procedure = message.procedure;
        let class = self.client.binding().interface().procedures[procedure as usize].class;
        self.client.claim_of_class(class.into(), procedure)
    }

    /// Sends a message, and says what came of it.
    pub fn send(&self, message: &Message) -> Verdict {
        verdict(self.post(message).map(|_| self.runs.set(self.runs.get() + 1)))
    }

    fn post<'d>(&'d self, message: &'d Message) -> Result<Reply<'d>, Box<CallError>> {
        filled(self.claim(message)?, message)?.post(bytes(message))
    }
}

/// A feed, or both sides of an exchange.
struct Opened {
    feed: u64,
    sink: Option<u64>,
}

/// What a server has made of a message.
fn verdict(outcome: Result<(), Box<CallError>>) -> Verdict {
    match outcome {
        Ok(()) => Verdict::Accepted,
        Err(error) => match *error {
            CallError::NotExecuted { reason: NotExecuted::ArgumentsRefused, .. } => {
                Verdict::Refused
            }
            error => Verdict::Other(error.to_string()),
        },
    }
}

/// The message for this feed: it says how far from it the number is that it has.
fn of_feed(message: &Message, number: u64) -> Message {
    let mut own = message.clone();
    if let Some(word) = own.fixed.first_chunk_mut() {
        *word = u64::from_le_bytes(*word).wrapping_add(number).to_le_bytes();
    }
    own
}

fn bytes(message: &Message) -> u32 {
    message.fixed.len() as u32
}

fn filled<'b, 'd>(
    mut call: Call<'b, 'd>,
    message: &'d Message,
) -> Result<Call<'b, 'd>, Box<CallError>> {
    call.put_bytes::<0>(&message.fixed);
    if let Some(at) = message.variable_at {
        let padded = message.variable.len().next_multiple_of(8) as u64;
        call.variable_at(at, padded)?.put(&message.variable);
    }
    if !message.descriptors.is_empty() {
        // As of any kind, so that nobody looks before they are sent.
        let opened = opened(&message.descriptors);
        let sent = opened.iter().map(|one| ("given", DescriptorKind::Any, Some(one.as_fd())));
        call.put_each_descriptor(&sent.collect::<Vec<_>>())?;
    }
    Ok(call)
}
