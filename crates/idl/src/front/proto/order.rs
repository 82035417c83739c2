//! Which message is declared before which: those that a message holds before it, as far as no
//! circle forbids it.
//!
//! What it holds one of has to be there: where it is not, the field is `@external`. Lists and maps
//! may be of what comes later, but a map of that holds boxes in C++, so that they give way to
//! circles only.

use protox::prost_reflect::prost_types::FieldDescriptorProto;
use protox::prost_reflect::prost_types::field_descriptor_proto::Label;

use super::names::Names;
use crate::need::needed_first;

/// The order, and each message's place in it.
pub(super) struct Order {
    pub messages: Vec<usize>,
    places: Vec<usize>,
}

impl Order {
    /// First by all that messages hold; in that order once more by what they hold one of, which
    /// moves nothing but what a circle through a list or a map has put wrong.
    pub fn new(names: &Names<'_>) -> Order {
        let written: Vec<usize> = (0..names.messages.len()).collect();
        let by_all = needed_first(&written, |message| held(names, message, |_| true).collect());
        let is_single = |field: &FieldDescriptorProto| field.label() != Label::Repeated;
        let messages = needed_first(&by_all, |message| held(names, message, is_single).collect());
        let mut places = vec![0; messages.len()];
        for (place, message) in messages.iter().enumerate() {
            places[*message] = place;
        }
        Order { messages, places }
    }

    /// Is `held` not declared yet where `holder` is?
    pub fn is_later(&self, held: usize, holder: usize) -> bool {
        self.places[held] >= self.places[holder]
    }
}

/// The messages that a message has in these fields, in maps too.
fn held<'n>(
    names: &'n Names<'_>,
    message: usize,
    is_meant: impl Fn(&FieldDescriptorProto) -> bool + 'n,
) -> impl Iterator<Item = usize> + 'n {
    let fields = names.messages[message].descriptor.field.iter();
    fields.filter(move |field| is_meant(field)).filter_map(|field| {
        let (_, value) = names.entry(field.type_name()).unwrap_or((field, field));
        names.message_index(value.type_name())
    })
}
