//! What a procedure throws: exceptions of its interface are raised, anything else is a panic.

use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::back::cpp::Cpp;
use crate::model::Kind;

/// What fails behind the second is no fault of the procedure's, but of its results.
pub const NOT_RETURNED: &str = "bool nc_has_returned = false;";
pub const HAS_RETURNED: &str = "nc_has_returned = true;";

impl Cpp<'_, '_> {
    /// The handlers of what a procedure throws; `may_return` if the flag above is there.
    pub fn print_caught(&self, procedure: Procedure<'_>, may_return: bool, text: &mut Text) {
        let threw = |has_returned| {
            let interface = &self.c.model.declaration(procedure.interface).name;
            let operation = procedure.operation;
            let opened_by = operation.feed.as_ref().map(|feed| &feed.opened_by);
            let own = opened_by.unwrap_or(&operation.name);
            let name = quoted(&format!("{interface}::{own}"));
            format!("::nearcall::detail::threw(nc_env, {name}, {has_returned});")
        };
        for id in &procedure.operation.raises {
            let (c, own) = (self.c.names.declaration(*id), self.path(*id));
            let is_empty = matches!(
                &self.c.model.declaration(*id).kind,
                Kind::Exception(members) if members.is_empty()
            );
            let name = if is_empty { "" } else { "nc_caught" };
            text.label(format!("}} catch (const {own} &{name}) {{"));
            text.line(format!("::{c} nc_raised;"));
            text.line("::std::memset(&nc_raised, 0, sizeof nc_raised);");
            if !is_empty {
                text.line("try {");
                let name = quoted(&self.c.model.declaration(*id).name.to_string());
                text.line(format!(
                    "    ::nearcall::detail::give_named({name}, nc_caught, nc_raised, 0);"
                ));
                text.line(format!("    ::nearcall_raise_{c}(nc_env, nc_raised);"));
                text.line("} catch (...) {");
                text.line(format!("    ::nearcall_free_{c}(&nc_raised);"));
                text.line(format!("    {}", threw("true")));
                text.line("}");
            } else {
                text.line(format!("::nearcall_raise_{c}(nc_env, nc_raised);"));
            }
        }
        text.label("} catch (...) {");
        text.line(threw(if may_return { "nc_has_returned" } else { "false" }));
        text.close("}");
    }
}
