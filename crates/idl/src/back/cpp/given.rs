//! How arguments of C++ are given to functions of C, and how results come to a string or a vector
//! of the caller's (`@prealloc`, docs/design/0014).

use crate::back::c::text::Text;
use crate::back::cpp::Cpp;
use crate::model::Operation;

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

impl Cpp<'_, '_> {
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
