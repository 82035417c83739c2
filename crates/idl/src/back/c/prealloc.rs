//! Results that come to memory of the caller's (`@prealloc`, docs/design/0014).

use crate::back::c::C;
use crate::back::c::stub::{Printer, Side};
use crate::back::c::types::quoted;
use crate::layout::{Place, Root};
use crate::model::{Operation, Parameter, Type};

/// What a call stub calls the memory for what it returns: no name of a user's begins so.
const RETURNED: &str = "nc_returned";

impl C<'_> {
    /// What the caller passes for such a result is called, and what its elements are; `None` of all
    /// other parameters.
    pub fn prealloc(&self, parameter: &Parameter) -> Option<(String, String)> {
        parameter.is_prealloc.then(|| self.prealloc_record(&parameter.declared))
    }

    /// The same of what an operation returns, which its call stub does not return then.
    pub fn returned_prealloc(&self, operation: &Operation) -> Option<(String, String)> {
        let declared = operation.returns.as_ref().filter(|_| operation.returns_prealloc);
        declared.map(|declared| self.prealloc_record(declared))
    }

    fn prealloc_record(&self, declared: &Type) -> (String, String) {
        let (tag, element) = match self.resolved(declared) {
            Type::Sequence { element, .. } => {
                (self.tag(element), self.type_name(self.resolved(element)))
            }
            text => (self.tag(text), String::from("char")),
        };
        (format!("nearcall_prealloc_{tag}"), element)
    }

    /// A parameter of a call stub.
    pub fn call_parameter(&self, parameter: &Parameter, name: &str) -> String {
        match self.prealloc(parameter) {
            Some((record, _)) => format!("{record} *{name}"),
            None => self.parameter(parameter, name),
        }
    }

    /// The parameter of a call stub that what is returned comes to.
    pub fn returned_parameter(&self, operation: &Operation) -> Option<String> {
        self.returned_prealloc(operation).map(|(record, _)| format!("{record} *{RETURNED}"))
    }

    /// What a call stub returns, where the procedure returns [`C::returned_type`].
    pub fn call_returned_type(&self, operation: &Operation) -> String {
        match operation.returns_prealloc {
            true => String::from("void"),
            false => self.returned_type(operation),
        }
    }
}

/// Whether a call stub returns what the procedure does.
pub fn is_returned(operation: &Operation) -> bool {
    operation.returns.is_some() && !operation.returns_prealloc
}

/// The argument for memory that what is returned comes to, where one stub calls another.
pub fn returned_argument(operation: &Operation) -> Option<&'static str> {
    operation.returns_prealloc.then_some(RETURNED)
}

impl Printer<'_, '_> {
    /// Whether a result comes to memory of this stub's caller.
    pub fn is_prealloc(&self, root: Root) -> bool {
        let operation = self.procedure.operation;
        let is_declared = match root {
            Root::Returned => operation.returns_prealloc,
            Root::Parameter(index) => operation.parameters[index as usize].is_prealloc,
            Root::Member(_) => false,
        };
        self.side == Side::Client && is_declared
    }

    /// What is passed for such a result.
    pub fn prealloc_name(&self, root: Root) -> Option<&str> {
        let name = match root {
            Root::Parameter(index) => self.names[index as usize].as_str(),
            _ => RETURNED,
        };
        self.is_prealloc(root).then_some(name)
    }

    /// Such a result, once it is there.
    pub fn filled(&self, root: Root) -> String {
        let name = self.prealloc_name(root).unwrap_or_default();
        match self.root_type(root).is_some_and(|declared| self.c.is_text(declared)) {
            true => format!("{name}->_buffer"),
            false => format!("(*{name})"),
        }
    }

    /// Such a result, as what is taken goes there.
    pub fn filling(&self, place: &Place) -> Option<String> {
        let (name, spoken) = (self.prealloc_name(place.root)?, quoted(&self.spoken(place)));
        Some(format!("&(nearcall_filling){{{spoken}, {name}}}"))
    }
}
