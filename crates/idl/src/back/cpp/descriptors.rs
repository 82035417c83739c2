//! Descriptors: what they are in C++, and what C has of them.

use crate::model::Descriptor;

const OWN: &str = "::nearcall::descriptor";

/// What owns one.
pub fn owned(descriptor: Descriptor) -> String {
    or_none(descriptor, OWN)
}

/// What a client's function is given.
pub fn number(descriptor: Descriptor) -> String {
    or_none(descriptor, "int")
}

/// That as C has it.
pub fn given(descriptor: Descriptor, value: &str) -> String {
    match descriptor.is_optional {
        true => format!("{value}.value_or(-1)"),
        false => value.to_owned(),
    }
}

/// What owns one that C has given.
pub fn made(descriptor: Descriptor, number: &str) -> String {
    match descriptor.is_optional {
        true => format!("::nearcall::detail::present({number})"),
        false => number.to_owned(),
    }
}

/// The number of one that is handed over to C.
pub fn released(descriptor: Descriptor, value: &str) -> String {
    match descriptor.is_optional {
        true => format!("::nearcall::detail::released({value})"),
        false => format!("{value}.release()"),
    }
}

/// The same of a variable.
pub fn moved(descriptor: Descriptor, local: &str) -> String {
    match descriptor.is_optional {
        true => released(descriptor, &format!("::std::move({local})")),
        false => released(descriptor, local),
    }
}

fn or_none(descriptor: Descriptor, declared: &str) -> String {
    match descriptor.is_optional {
        true => format!("::std::optional<{declared}>"),
        false => declared.to_owned(),
    }
}
