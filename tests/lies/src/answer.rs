//! A server that answers with what it is told to, whatever it is asked.

use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex};

use nearcall::InterfaceDescriptor;
use nearcall::raw::{Arguments, DescriptorKind, Entries, Outcome};

use crate::messages::{Around, Case, Message};
use crate::opened::opened;

/// What the server says next.
#[derive(Clone, Debug, Default)]
pub struct Spoken(Arc<Mutex<Vec<Message>>>);

impl Spoken {
    /// From now on: what the case says, and then what is said around it.
    pub fn set(&self, case: &Case) {
        let mut all = vec![case.message.clone()];
        if let Around::Answers(answers) = &case.around {
            all.extend_from_slice(answers);
        }
        *self.0.lock().expect("nobody panics with it") = all;
    }

    /// The first of a procedure, which is said no more if there is another.
    fn next(&self, procedure: u32) -> Message {
        let mut all = self.0.lock().expect("nobody panics with it");
        let own = all.iter().zip(0..).filter(|(one, _)| one.procedure == procedure);
        let own: Vec<usize> = own.map(|(_, index)| index).collect();
        match *own {
            [only] => all[only].clone(),
            [first, ..] => all.remove(first),
            [] => panic!("there is no reply of procedure {procedure}"),
        }
    }
}

/// The server.
pub struct Liar {
    interface: &'static InterfaceDescriptor,
    spoken: Spoken,
}

impl Liar {
    pub fn new(interface: &'static InterfaceDescriptor, spoken: Spoken) -> Liar {
        Liar { interface, spoken }
    }
}

impl Entries for Liar {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.interface
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let message = self.spoken.next(procedure as u32);
        let is_raised = message.raised > 0;
        let mut results = if is_raised { arguments.exception() } else { arguments.results() };
        results.put_bytes::<0>(&message.fixed);
        if let Some(at) = message.variable_at {
            let padded = message.variable.len().next_multiple_of(8) as u64;
            results.variable_at(at, padded)?.put(&message.variable);
        }
        if !message.descriptors.is_empty() {
            // As of any kind, so that nobody looks before they are sent.
            let opened = opened(&message.descriptors);
            let sent = opened.iter().map(|one| (DescriptorKind::Any, Some(one.as_fd())));
            results.put_each_descriptor(&sent.collect::<Vec<_>>())?;
        }
        match message.raised {
            0 => results.reply(message.fixed.len() as u32),
            raised => results.raise(raised, message.fixed.len() as u32),
        }
    }
}
