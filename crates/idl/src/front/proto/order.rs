//! Which message is declared before which: those that a message holds before it, as far as no
//! circle forbids it.

use protox::prost_reflect::prost_types::field_descriptor_proto::Label;

use super::names::Names;

/// The order, and each message's place in it.
pub(super) struct Order {
    pub messages: Vec<usize>,
    places: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

impl Order {
    /// No recursion: messages may hold one another in a chain as long as the file.
    pub fn new(names: &Names<'_>) -> Order {
        let count = names.messages.len();
        let mut marks = vec![Mark::New; count];
        let mut order = Order { messages: Vec::with_capacity(count), places: vec![0; count] };
        for start in 0..count {
            let mut path = vec![start];
            while let Some(at) = path.last().copied() {
                match marks[at] {
                    Mark::New => {
                        marks[at] = Mark::Open;
                        path.extend(held(names, at).filter(|one| marks[*one] == Mark::New));
                    }
                    Mark::Open => {
                        marks[at] = Mark::Done;
                        order.places[at] = order.messages.len();
                        order.messages.push(at);
                        path.pop();
                    }
                    Mark::Done => {
                        path.pop();
                    }
                }
            }
        }
        order
    }

    /// Is `held` not declared yet where `holder` is?
    pub fn is_later(&self, held: usize, holder: usize) -> bool {
        self.places[held] >= self.places[holder]
    }
}

/// The messages that a message holds one of. Lists and maps may be of what is not declared yet.
fn held<'n>(names: &'n Names<'_>, message: usize) -> impl Iterator<Item = usize> + 'n {
    let fields = names.messages[message].descriptor.field.iter();
    let single = fields.filter(|field| field.label() != Label::Repeated);
    single.filter_map(|field| names.message_index(field.type_name()))
}
