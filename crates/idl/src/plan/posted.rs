//! The plan of a stub that posts now and collects later, made from the call stub's: the same bytes,
//! but nothing of the caller's is borrowed between the two (design note 0007).

use crate::layout::{self, Root, Shape};
use crate::model::{Direction, Model, Operation};
use crate::plan::{Argument, Copy, Passing, ProcedurePlan, Step};

impl ProcedurePlan {
    /// The plan with the client's half changed: what the caller would have given to be changed is
    /// passed like an in parameter and evaluated to like an out parameter.
    pub fn posted(&self, model: &Model, operation: &Operation) -> ProcedurePlan {
        let mut plan = self.clone();
        plan.is_retried = self.is_posted_twice();
        plan.arguments =
            self.arguments.iter().filter_map(|one| argument(model, operation, *one)).collect();
        plan.results = results(operation);
        let returned = Step::Return { results: plan.results.clone() };
        let steps = plan.client.reply.into_iter().filter_map(|step| match step {
            Step::Store { .. } => None,
            Step::Return { .. } => Some(returned.clone()),
            Step::Take { place, form, copy: Copy::Into, limit } => {
                Some(Step::Take { place, form, copy: Copy::Owned, limit })
            }
            step => Some(step),
        });
        plan.client.reply = steps.collect();
        plan
    }

    /// The same for a stub that is awaited: its arguments stay with its caller until it is over.
    pub fn awaited(&self, model: &Model, operation: &Operation) -> ProcedurePlan {
        ProcedurePlan { is_retried: self.is_retried, ..self.posted(model, operation) }
    }

    /// Whether a posted call that has failed is made once more. A copy of its arguments is kept
    /// for that; copies of descriptors would be system calls at each post.
    pub fn is_posted_twice(&self) -> bool {
        let has_descriptors =
            self.arguments.iter().any(|argument| argument.passing == Passing::Descriptor);
        self.is_retried && !has_descriptors
    }
}

/// How a parameter is passed to a post; `None` if it is not.
fn argument(model: &Model, operation: &Operation, argument: Argument) -> Option<Argument> {
    let parameter = &operation.parameters[argument.parameter as usize];
    let passing = match argument.passing {
        Passing::Exclusive => match layout::shape(model, &parameter.declared) {
            Shape::Scalar(_) => Passing::Value,
            _ => Passing::Shared,
        },
        Passing::LentBoth => Passing::Lent,
        Passing::LentResult => return None,
        passing @ (Passing::Value | Passing::Shared | Passing::Lent | Passing::Descriptor) => {
            passing
        }
    };
    Some(Argument { passing, ..argument })
}

/// The returned value, then everything the procedure may change, in the order of the parameters.
fn results(operation: &Operation) -> Vec<Root> {
    let returned = operation.returns.iter().map(|_| Root::Returned);
    let parameters = operation.parameters.iter().zip(0u32..);
    let changed = parameters.filter(|(parameter, _)| parameter.direction != Direction::In);
    returned.chain(changed.map(|(_, index)| Root::Parameter(index))).collect()
}
