//! Members of exceptions that may be absent: whether one is there is said before it, as in a
//! struct, so that each has functions of its own.

use crate::back::c::C;
use crate::back::c::stub::Printer;
use crate::back::c::text::Text;
use crate::layout::{Place, Root, is_optional};
use crate::model::{DeclarationId, Member};

impl C<'_> {
    /// What a member has functions by.
    fn optional_tag(&self, id: DeclarationId, index: u32) -> String {
        format!("{index}_{}", self.names.declaration(id))
    }

    /// Its limits are judged by the stubs.
    pub fn print_optional(
        &self,
        id: DeclarationId,
        (member, index): (&Member, u32),
        text: &mut Text,
    ) {
        let (tag, name) = (self.optional_tag(id, index), self.type_name(&member.declared));
        let star = if name.ends_with('*') { "" } else { " " };
        text.line(format!("NEARCALL_COLD void nearcall_optional_encode_{tag}("));
        text.open(format!("    nearcall_writer *writer, {name}{star}*const *value) {{"));
        self.print_encode_member(member, (false, &[]), "(*value)", text);
        text.close("}");
        text.line("");
        text.line(format!("NEARCALL_COLD bool nearcall_optional_decode_{tag}("));
        text.open(format!("    nearcall_reader *reader, {name}{star}**value) {{"));
        self.print_decode_member(member, (false, &[]), "(*value)", text);
        text.line("return true;");
        text.close("}");
        text.line("");
    }
}

impl Printer<'_, '_> {
    /// What encodes the value of a place, or decodes it.
    pub fn coder(&self, verb: &str, place: &Place) -> String {
        let exception = self.exception.map(|(id, _)| id);
        match (place.root, exception) {
            (Root::Member(index), Some(id)) if is_optional(self.c.model, exception, place.root) => {
                format!("nearcall_optional_{verb}_{}", self.c.optional_tag(id, index))
            }
            _ => format!("nearcall_{verb}_{}", self.c.tag(&self.declared(place))),
        }
    }
}
