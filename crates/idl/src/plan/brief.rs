//! Which calls are brief: their arguments are words and blocks, and at most one payload or text
//! behind them. A back end may print those without what the others need
//! (docs/design/0026-brief-calls.md).

use nearcall_abi::INLINE_BYTES;

use crate::layout::{Form, Place, Scalar};
use crate::plan::{ProcedurePlan, Step};

/// A brief call.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// What is put into the fixed part, in the order of the plan.
    pub arguments: Vec<BriefItem>,
    /// What is put behind it.
    pub payload: Option<BriefPayload>,
    /// What is got if the procedure returned, in the order of the plan; `None`: what comes back is
    /// more than words and blocks.
    pub results: Option<Vec<BriefItem>>,
    /// Of the fixed part that goes.
    pub request_bytes: u32,
    /// Of the fixed part that comes back.
    pub reply_bytes: u32,
}

/// A value in the fixed part.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefItem {
    pub place: Place,
    pub at: u32,
    pub kind: BriefKind,
}

/// What a value in the fixed part is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BriefKind {
    /// A word, which is judged.
    Word(Scalar),
    /// So many bytes of elements, each of which may have any value.
    Block(u32),
    /// How many elements the payload has.
    Length,
}

/// Elements that go behind the fixed part, each of which may have any value, or text.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefPayload {
    pub place: Place,
    pub is_text: bool,
    /// Where it begins: right behind the fixed part.
    pub at: u32,
    /// Bytes of an element.
    pub width: u32,
    /// Most elements that the interface allows.
    pub bound: Option<u32>,
}

impl Brief {
    /// Whether no payload goes, or a part of one may lie in the line.
    pub fn may_end_in_line(&self) -> bool {
        self.payload.as_ref().is_none_or(|payload| payload.at < INLINE_BYTES)
    }
}

impl ProcedurePlan {
    /// Bytes of the fixed part that comes back from a call that returns, if all that goes and
    /// comes, exceptions too, are words and blocks: then a call needs nothing that could fail
    /// between claim and post.
    pub fn words_alone(&self) -> Option<u32> {
        let is_put = |step: &Step| {
            matches!(
                step,
                Step::CheckRange { .. }
                    | Step::Claim { .. }
                    | Step::PutScalar { .. }
                    | Step::PutBlock { .. }
                    | Step::Post { .. }
                    | Step::NothingRaised
                    | Step::Dispatch { .. }
            )
        };
        let is_got = |step: &Step| {
            matches!(
                step,
                Step::GetScalar { .. }
                    | Step::GetBlock { .. }
                    | Step::CheckInside { .. }
                    | Step::Assemble { .. }
                    | Step::Store { .. }
                    | Step::Return { .. }
                    | Step::ReturnRaised { .. }
            )
        };
        let mut got = self.client.reply.iter().chain(self.client.raised.iter().flatten());
        let is_so = self.client.request.iter().all(is_put) && got.all(is_got);
        let bytes = self.server.reply.iter().find_map(|step| match step {
            Step::Reply { fixed_bytes } => Some(*fixed_bytes),
            _ => None,
        });
        bytes.filter(|_| is_so)
    }

    /// The call, if it is brief.
    pub fn brief(&self) -> Option<Brief> {
        let mut brief = Brief {
            arguments: Vec::new(),
            payload: None,
            results: results(&self.client.reply),
            request_bytes: 0,
            reply_bytes: 0,
        };
        let mut bound = None;
        for step in &self.client.request {
            match step {
                Step::Claim { .. } | Step::NothingRaised | Step::Dispatch { .. } => {}
                Step::CheckBound { limit, .. } => bound = Some(*limit),
                Step::PutScalar { .. } | Step::PutBlock { .. } | Step::PutLength { .. } => {
                    brief.arguments.extend(item(step));
                }
                Step::Variable { at, payloads } => {
                    let [(place, form)] = &payloads[..] else { return None };
                    let (place, is_text) = (place.clone(), *form == Form::Text);
                    let (at, width) = (*at, width(*form)?);
                    brief.payload = Some(BriefPayload { place, is_text, at, width, bound });
                }
                Step::PutPayload { .. } => {}
                Step::Post { fixed_bytes } => brief.request_bytes = *fixed_bytes,
                _ => return None,
            }
        }
        for step in &self.server.reply {
            if let Step::Reply { fixed_bytes } = step {
                brief.reply_bytes = *fixed_bytes;
            }
        }
        Some(brief)
    }
}

/// What is got, if words and blocks are all there is to get.
fn results(reply: &[Step]) -> Option<Vec<BriefItem>> {
    let mut results = Vec::new();
    for step in reply {
        match step {
            Step::GetScalar { .. } | Step::GetBlock { .. } => results.extend(item(step)),
            Step::Assemble { .. } | Step::Store { .. } | Step::Return { .. } => {}
            _ => return None,
        }
    }
    Some(results)
}

fn item(step: &Step) -> Option<BriefItem> {
    let (place, at, kind) = match step {
        Step::PutScalar { place, at, scalar } | Step::GetScalar { place, at, scalar, .. } => {
            (place, at, BriefKind::Word(*scalar))
        }
        Step::PutBlock { place, at, bytes } | Step::GetBlock { place, at, bytes } => {
            (place, at, BriefKind::Block(*bytes))
        }
        Step::PutLength { place, at, .. } => (place, at, BriefKind::Length),
        _ => return None,
    };
    Some(BriefItem { place: place.clone(), at: *at, kind })
}

/// Bytes of an element of a payload that is copied as it is.
fn width(form: Form) -> Option<u32> {
    match form {
        Form::Octets | Form::Text => Some(1),
        Form::Elements { width } => Some(width),
        Form::WideText | Form::Lent | Form::Marshalled => None,
    }
}
