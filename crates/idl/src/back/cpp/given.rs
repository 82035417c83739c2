//! How arguments of C++ are given to functions of C, and how results come to a string or a vector
//! of the caller's (`@prealloc`, docs/design/0014).

use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::back::cpp::Cpp;
use crate::layout::{Shape, shape};
use crate::model::{Kind, Operation, Type};

/// How an argument of C++ is given to a function of C.
pub struct Given {
    /// As an expression.
    pub argument: String,
    /// What has to be done with the result as soon as it is there, if anything has.
    pub came: Option<String>,
    /// What puts it where it belongs once nothing can fail any more.
    pub after: Option<String>,
}

impl Given {
    pub fn plain(argument: String) -> Given {
        Given { argument, came: None, after: None }
    }
}

/// A local for a parameter, called as no other local is.
pub fn local_of(own: &str) -> String {
    format!("nc_given_{own}")
}

/// What errors call what is returned, and an item of a feed.
const RETURNED: &str = "returned";
const ITEM: &str = "item";

impl Cpp<'_, '_> {
    /// A scalar as one of a type of the other language: they have all in common but enums.
    pub fn word(&self, declared: &Type, target: &str, value: &str) -> String {
        let is_enum = match self.c.resolved(declared) {
            Type::Named(id) => matches!(self.c.model.declaration(*id).kind, Kind::Enum(_)),
            _ => false,
        };
        if is_enum { format!("static_cast<{target}>({value})") } else { String::from(value) }
    }

    /// Gives a value to C, so many levels deep. What is no number may not fit, and is refused by
    /// its name.
    pub fn given_named(
        &self,
        declared: &Type,
        name: &str,
        [from, to]: [&str; 2],
        depth: u32,
    ) -> String {
        if matches!(shape(self.c.model, declared), Shape::Scalar(_)) {
            return format!("nc_give({from}, {to}, {depth});");
        }
        let name = quoted(name);
        format!("::nearcall::detail::give_named({name}, {from}, {to}, {depth});")
    }

    /// The same of what a procedure returns.
    pub fn given_returned_value(&self, declared: &Type, between: [&str; 2]) -> String {
        self.given_named(declared, RETURNED, between, 0)
    }

    /// The same of an item, which is in a batch.
    pub fn given_item(&self, declared: &Type, between: [&str; 2]) -> String {
        self.given_named(declared, ITEM, between, 1)
    }

    /// The type of what is returned, where a client's function has a parameter for that.
    pub fn returned_memory(&self, operation: &Operation) -> Option<String> {
        let declared = operation.returns.as_ref().filter(|_| operation.returns_prealloc);
        declared.map(|declared| self.type_name(declared))
    }

    /// How C's stub is given that.
    pub fn given_returned(&self, operation: &Operation, text: &mut Text) -> Option<Given> {
        let (record, _) = self.c.returned_prealloc(operation)?;
        Some(given_memory(&record, "nc_returned", text))
    }
}

/// How C's stub is given the memory of a string or a vector, which is as long as the result in the
/// end, and empty after an error: what has come may be no value.
pub fn given_memory(record: &str, own: &str, text: &mut Text) -> Given {
    let local = local_of(own);
    text.line(format!("auto {local} = ::nearcall::detail::prealloc<::{record}>({own});"));
    let came = format!("{own}.resize({local}._length);");
    Given { argument: format!("&{local}"), came: Some(came), after: None }
}
