//! Results that come to memory of the caller's (`@prealloc`, docs/design/0014).

use crate::back::c::C;
use crate::back::c::stub::{Printer, Side};
use crate::back::c::types::quoted;
use crate::layout::{Place, Root};
use crate::model::{Parameter, Type};

impl C<'_> {
    /// What the caller passes for such a result is called, and what its elements are; `None` of all
    /// other parameters.
    pub fn prealloc(&self, parameter: &Parameter) -> Option<(String, String)> {
        if !parameter.is_prealloc {
            return None;
        }
        let (tag, element) = match self.resolved(&parameter.declared) {
            Type::Sequence { element, .. } => {
                (self.tag(element), self.type_name(self.resolved(element)))
            }
            text => (self.tag(text), String::from("char")),
        };
        Some((format!("nearcall_prealloc_{tag}"), element))
    }

    /// A parameter of a call stub.
    pub fn call_parameter(&self, parameter: &Parameter, name: &str) -> String {
        match self.prealloc(parameter) {
            Some((record, _)) => format!("{record} *{name}"),
            None => self.parameter(parameter, name),
        }
    }
}

impl Printer<'_, '_> {
    /// Whether a result comes to memory of this stub's caller.
    pub fn is_prealloc(&self, root: Root) -> bool {
        let Root::Parameter(index) = root else { return false };
        let parameter = &self.procedure.operation.parameters[index as usize];
        self.side == Side::Client && parameter.is_prealloc
    }

    /// Such a result, as what is taken goes there.
    pub fn filling(&self, place: &Place) -> Option<String> {
        let Root::Parameter(index) = place.root else { return None };
        let spoken = &self.procedure.operation.parameters[index as usize].name;
        let name = &self.names[index as usize];
        self.is_prealloc(place.root)
            .then(|| format!("&(nearcall_filling){{{}, {name}}}", quoted(spoken)))
    }
}
