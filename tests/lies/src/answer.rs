//! A server that answers with what it is told to, whatever it is asked.

use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex};

use nearcall::InterfaceDescriptor;
use nearcall::raw::{Arguments, DescriptorKind, Entries, Outcome};

use crate::messages::Message;
use crate::opened::opened;

/// What the server says next.
#[derive(Clone, Debug, Default)]
pub struct Spoken(Arc<Mutex<Message>>);

impl Spoken {
    /// From now on.
    pub fn set(&self, message: &Message) {
        *self.0.lock().expect("nobody panics with it") = message.clone();
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

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let message = self.spoken.0.lock().expect("nobody panics with it").clone();
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
            let sent = opened.iter().map(|one| (DescriptorKind::Any, one.as_fd()));
            results.put_each_descriptor(&sent.collect::<Vec<_>>())?;
        }
        match message.raised {
            0 => results.reply(message.fixed.len() as u32),
            raised => results.raise(raised, message.fixed.len() as u32),
        }
    }
}
