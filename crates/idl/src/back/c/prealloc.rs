//! Results that come to memory of the caller's (`@prealloc`, docs/design/0014).

use std::collections::BTreeMap;

use crate::back::c::C;
use crate::back::c::stub::{Printer, Side};
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::layout::{Form, Place, Root, Shape, fixed_bytes, item_bytes, shape};
use crate::model::{Operation, Parameter, Type};
use crate::plan::{Count, Limit, LimitCheck};

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

    /// Functions that make elements of what lies as it came at the end of the caller's memory, from
    /// its beginning on. None of elements that any bytes are.
    pub fn print_spreads(&self, text: &mut Text) {
        for (tag, element) in self.spread_elements() {
            let name = self.type_name(self.resolved(&element));
            let width = fixed_bytes(self.model, &element).unwrap_or_default();
            text.line(format!("NEARCALL_ASSERT(sizeof({name}) >= {width}u);"));
            text.line(format!(
                "NEARCALL_APART bool nearcall_spread_{tag}(nearcall_reader *reader,"
            ));
            text.open(format!("    {name} *items, uint32_t count) {{"));
            text.open("for (uint32_t i = 0; i < count; i++) {");
            text.line(format!("{name} item;"));
            text.line("memset(&item, 0, sizeof item);");
            text.lines(self.decode(&element, "item"));
            text.line("memcpy(&items[i], &item, sizeof item);");
            text.close("}");
            text.line("return true;");
            text.close("}");
            text.line("");
        }
    }

    /// The elements of all such results, by what they are called.
    fn spread_elements(&self) -> BTreeMap<String, Type> {
        let interfaces = self.model.interfaces();
        let operations = interfaces.flat_map(|(_, _, interface)| &interface.operations);
        let spread = operations.flat_map(|operation| self.spread_by(operation));
        spread.map(|element| (self.tag(element), element.clone())).collect()
    }

    /// The elements of such results of one operation.
    fn spread_by<'a>(&'a self, operation: &'a Operation) -> impl Iterator<Item = &'a Type> {
        let passed = operation.parameters.iter().filter(|one| one.is_prealloc);
        let returned = operation.returns.iter().filter(|_| operation.returns_prealloc);
        let declared = passed.map(|one| &one.declared).chain(returned);
        declared.filter_map(|declared| match shape(self.model, declared) {
            Shape::Payload { form: Form::Marshalled, .. } => match self.resolved(declared) {
                Type::Sequence { element, .. } if !self.is_plain(element) => Some(&**element),
                _ => None,
            },
            _ => None,
        })
    }

    /// Bytes of the longest element that one operation has spread, which goes over the stack.
    pub fn spread_bytes(&self, operation: &Operation) -> u64 {
        let all = self.spread_by(operation);
        all.filter_map(|element| fixed_bytes(self.model, element)).max().unwrap_or_default()
    }

    /// What a call stub returns, where the procedure returns [`C::returned_type`].
    pub fn call_returned_type(&self, operation: &Operation) -> String {
        match operation.returns_prealloc {
            true => String::from("void"),
            false => self.returned_type(operation),
        }
    }
}

/// Elements behind their count.
#[derive(Clone, Copy)]
pub struct Items {
    /// Bytes of each in the message.
    pub width: u32,
    /// Most of them.
    pub bound: Option<u32>,
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
        Some(format!("&(nearcall_filling){{{spoken}, {name}, sizeof *{name}->_buffer}}"))
    }

    /// What is taken of such a result that is marshalled, which its count stands in.
    pub fn filled_items(&self, place: &Place, form: Form) -> Option<Items> {
        let declared = self.root_type(place.root).filter(|_| self.is_prealloc(place.root))?;
        match (form, self.c.resolved(declared)) {
            (Form::Marshalled, Type::Sequence { bound, .. }) => {
                let width = item_bytes(self.c.model, declared)?;
                Some(Items { width, bound: *bound })
            }
            _ => None,
        }
    }

    /// The checks that are left: how many there are was judged before they were taken.
    pub fn unjudged(&self, place: &Place, checks: &[LimitCheck]) -> Vec<LimitCheck> {
        let is_counted = |check: &LimitCheck| {
            let is_count = matches!(check.limit, Limit::AtMost { count: Count::Items, .. });
            self.is_prealloc(place.root) && check.hops.is_empty() && is_count
        };
        checks.iter().filter(|check| !is_counted(check)).cloned().collect()
    }

    /// Makes elements of what has come to the end of such memory, if any bytes are not one.
    pub fn print_spread(&mut self, place: &Place, form: Form) {
        let declared = self.declared(place);
        let Type::Sequence { element, .. } = self.c.resolved(&declared).clone() else { return };
        let Some(items) = self.filled_items(place, form).filter(|_| !self.c.is_plain(&element))
        else {
            return;
        };
        let name = self.prealloc_name(place.root).unwrap_or_default().to_owned();
        let (tag, width) = (self.c.tag(&element), items.width);
        let all = format!("{name}->_buffer, {name}->_length");
        self.text.open("{");
        self.text.line("nearcall_reader nc_reader;");
        let size = format!("sizeof *{name}->_buffer");
        self.text.line(format!("nearcall_read_filled(&nc_reader, {all}, {size}, {width}u);"));
        self.text.open(format!("if (!nearcall_spread_{tag}(&nc_reader, {all})) {{"));
        let unread = self.refuse_unread();
        self.text.lines(unread);
        self.text.close("}");
        self.text.close("}");
    }
}
