//! Which calls are brief: words in the line that crosses, both ways, and no exception. A back end
//! may print those without what the others need (docs/design/0026-brief-calls.md).

use nearcall_abi::INLINE_BYTES;

use crate::layout::{Place, Scalar};
use crate::plan::{ProcedurePlan, Step};

/// A brief call: the words that are put, and those that are got.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// In the order of the plan.
    pub arguments: Vec<(Place, u32, Scalar)>,
    /// In the order of the plan.
    pub results: Vec<(Place, u32, Scalar)>,
    /// Of the fixed part that goes.
    pub request_bytes: u32,
    /// Of the fixed part that comes back.
    pub reply_bytes: u32,
}

impl ProcedurePlan {
    /// The call, if it is brief.
    pub fn brief(&self) -> Option<Brief> {
        if !self.client.raised.is_empty() {
            return None;
        }
        let mut brief =
            Brief { arguments: Vec::new(), results: Vec::new(), request_bytes: 0, reply_bytes: 0 };
        for step in &self.client.request {
            match step {
                Step::Claim { .. } | Step::NothingRaised => {}
                Step::PutScalar { place, at, scalar } => {
                    brief.arguments.push((place.clone(), *at, *scalar));
                }
                Step::Post { fixed_bytes } => brief.request_bytes = *fixed_bytes,
                _ => return None,
            }
        }
        for step in &self.client.reply {
            match step {
                Step::GetScalar { place, at, scalar, .. } => {
                    brief.results.push((place.clone(), *at, *scalar));
                }
                Step::Assemble { .. } | Step::Store { .. } | Step::Return { .. } => {}
                _ => return None,
            }
        }
        for step in &self.server.reply {
            if let Step::Reply { fixed_bytes } = step {
                brief.reply_bytes = *fixed_bytes;
            }
        }
        let is_inline = brief.request_bytes.max(brief.reply_bytes) <= INLINE_BYTES;
        is_inline.then_some(brief)
    }
}
