//! A client that sends requests as they are, and what a server makes of them.

use nearcall::raw::{Call, Client};
use nearcall::{
    AStackClass, AppendableDescriptor, Binding, CallError, Domain, ImportOptions,
    InterfaceDescriptor, NotExecuted, ProcedureDescriptor,
};
use nearcall_idl::model::{DeclarationId, Model};
use nearcall_idl::plan::plan;

use crate::messages::Message;
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

/// A client of one interface.
pub struct Attacker {
    client: Client,
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
        Attacker { client: Client::new(binding, interface) }
    }

    /// Sends a message, and says what came of it.
    pub fn send(&self, message: &Message) -> Verdict {
        let procedure = message.procedure;
        let class = self.client.binding().interface().procedures[procedure as usize].class;
        let call = self.client.claim_of_class(class.into(), procedure);
        let outcome = call.and_then(|call| posted(call, message));
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
}

fn posted<'d>(mut call: Call<'_, 'd>, message: &'d Message) -> Result<(), Box<CallError>> {
    call.put_bytes::<0>(&message.fixed);
    if let Some(at) = message.variable_at {
        let padded = message.variable.len().next_multiple_of(8) as u64;
        call.variable_at(at, padded)?.put(&message.variable);
    }
    call.post(message.fixed.len() as u32).map(drop)
}
