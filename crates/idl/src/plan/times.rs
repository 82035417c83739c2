//! Which types are the times of Protocol Buffers: each language has its own for them, and its
//! stubs what makes one of the other.

use crate::model::{DeclarationId, Kind, Member, Model, Primitive, Type};

/// A type that a language has one of its own for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// `google.protobuf.Timestamp`: a time since 1970.
    Timestamp,
    /// `google.protobuf.Duration`: how long something takes, forwards or back.
    Duration,
}

/// Which of them a type is. It has to be of a .proto file, and to have the members that the
/// language gives it.
pub fn time(model: &Model, id: DeclarationId) -> Option<Time> {
    let declaration = model.declaration(id);
    let [google, protobuf, own] = declaration.name.0.as_slice() else { return None };
    let time = match [&**google, &**protobuf, &**own] {
        ["google", "protobuf", "Timestamp"] => Time::Timestamp,
        ["google", "protobuf", "Duration"] => Time::Duration,
        _ => return None,
    };
    let Kind::Struct(own) = &declaration.kind else { return None };
    let is_of_proto = |member: &Member| member.number.is_some() && !member.is_optional;
    let members = own.members.iter().filter(|member| is_of_proto(member));
    let members: Vec<_> = members.map(|member| (&*member.name, &member.declared)).collect();
    let wanted = [
        ("seconds", &Type::Primitive(Primitive::Int64)),
        ("nanos", &Type::Primitive(Primitive::Int32)),
    ];
    (own.members.len() == wanted.len() && members == wanted).then_some(time)
}
