//! Which procedures of a table carry which feed, checked once: whoever opens or carries one finds
//! the parts that it needs.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::table::{Message, Procedure, Role, Type};
use crate::tables::{at, refused};
use crate::words::Word;

/// Tells the procedures of a feed what they are for it.
pub fn connect(row: &Bound<'_, PyTuple>, procedures: &mut [Procedure]) -> PyResult<()> {
    let code: String = at(row, 0)?;
    let index = |place| {
        let index: usize = at(row, place)?;
        let plain = procedures.get(index).filter(|found| found.role == Role::Plain);
        plain.map(|_| index).ok_or_else(|| refused("procedure of a feed", index))
    };
    let open = index(1)?;
    let is_right = match code.as_str() {
        "back" => {
            let next = index(2)?;
            let is_right = is_opening(&procedures[open], &[FEED]) && is_next(&procedures[next]);
            procedures[next].role = Role::Next { open };
            procedures[open].role = Role::OpensSource { next };
            is_right
        }
        "there" => {
            let (put, end) = (index(2)?, index(3)?);
            let is_right = put != end
                && is_opening(&procedures[open], &[FEED])
                && is_put(&procedures[put])
                && are_words(&procedures[end].request, &[FEED]);
            procedures[put].role = Role::Put { open };
            procedures[end].role = Role::End { open };
            procedures[open].role = Role::OpensTaker { put, end };
            is_right
        }
        "both" => {
            let (next, put, end) = (index(2)?, index(3)?, index(4)?);
            let is_right = next != put
                && put != end
                && end != next
                && is_opening(&procedures[open], &[FEED, FEED])
                && is_next(&procedures[next])
                && is_put(&procedures[put])
                && are_words(&procedures[end].request, &[FEED])
                && procedures[end].reply.parts.is_empty();
            procedures[next].role = Role::NextOfExchange { open };
            procedures[put].role = Role::PutToExchange { open };
            procedures[end].role = Role::EndOfExchange { open };
            procedures[open].role = Role::OpensExchange { next, put, end };
            is_right
        }
        other => return Err(refused("way of a feed", other)),
    };
    if is_right { Ok(()) } else { Err(refused("feed", procedures[open].name)) }
}

/// A feed's number, and a batch's.
const FEED: Word = Word::Unsigned(8);
const NUMBER: Word = Word::Unsigned(4);

fn is_word(declared: &Type, wanted: Word) -> bool {
    matches!(declared, Type::Word(word) if *word == wanted)
}

fn are_words(message: &Message, wanted: &[Word]) -> bool {
    let words = message.parts.iter().zip(wanted);
    message.parts.len() == wanted.len()
        && words.into_iter().all(|(part, word)| is_word(&part.declared, *word))
}

fn is_opening(procedure: &Procedure, numbers: &[Word]) -> bool {
    procedure.function.is_some() && are_words(&procedure.reply, numbers)
}

fn is_next(carries: &Procedure) -> bool {
    are_words(&carries.request, &[FEED, NUMBER])
        && carries.reply.parts.len() == 2
        && carries.items().is_some()
        && is_word(&carries.reply.parts[1].declared, Word::Boolean)
}

fn is_put(carries: &Procedure) -> bool {
    carries.request.parts.len() == 3
        && is_word(&carries.request.parts[0].declared, FEED)
        && is_word(&carries.request.parts[1].declared, NUMBER)
        && carries.items().is_some()
        && carries.reply.parts.is_empty()
}

impl Procedure {
    /// A procedure without a function carries a feed.
    pub fn is_whole(&self) -> bool {
        let is_own = match self.role {
            Role::Plain
            | Role::OpensSource { .. }
            | Role::OpensTaker { .. }
            | Role::OpensExchange { .. } => true,
            Role::Next { .. } | Role::Put { .. } | Role::End { .. } => false,
            Role::NextOfExchange { .. }
            | Role::PutToExchange { .. }
            | Role::EndOfExchange { .. } => false,
        };
        self.function.is_some() == is_own
    }

    /// What the items are that it carries, and how many at most.
    pub fn items(&self) -> Option<(&Type, u32)> {
        let (back, there) = (self.reply.parts.first(), self.request.parts.last());
        [back, there].into_iter().flatten().find_map(|part| match &part.declared {
            Type::Items { element, bound } => Some((&**element, *bound)),
            _ => None,
        })
    }
}
