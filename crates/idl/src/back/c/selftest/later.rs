//! Servers whose procedures are run as others are, and whose calls are set aside and replied to all
//! the same.

use crate::back::c::deferred::is_deferred;
use crate::back::c::interface::Procedure;
use crate::back::c::selftest::Programs;
use crate::back::c::text::Text;
use crate::model::Direction;
use crate::selftest::{InterfaceTest, Manner, OperationTest};

impl Programs<'_, '_> {
    /// What a server of this kind is called by, before its interface's name.
    pub fn kind(&self, interface: &InterfaceTest) -> &'static str {
        let plan = self.c.plan.interfaces.iter().find(|plan| plan.id == interface.id);
        let has_one = plan.is_some_and(|plan| self.c.has_async_server(plan));
        if has_one && self.test.manner == Manner::Awaited { "async_" } else { "" }
    }

    /// What stands in the record of a server for a procedure.
    pub fn run_name(&self, procedure: Procedure<'_>, test: &OperationTest) -> String {
        let is_later = self.test.manner == Manner::Awaited && is_deferred(procedure);
        format!("{}_{}", if is_later { "nc_later" } else { "nc_run" }, test.number)
    }

    /// A procedure that replies with what the ordinary one makes of the record.
    pub fn later(&self, procedure: Procedure<'_>, test: &OperationTest, text: &mut Text) {
        if self.test.manner != Manner::Awaited || !is_deferred(procedure) {
            return;
        }
        let Procedure { interface, operation, plan } = procedure;
        let (record, number) = (self.c.deferred_record(procedure), test.number);
        let function = self.c.names.function(interface, plan.index);
        text.open(format!("static void nc_later_{number}(void *nc_self, {record} *nc_call) {{"));
        text.line("nearcall_environment nc_env;");
        let mut arguments = String::from("nc_self");
        let names = self.c.parameter_names(operation);
        for (parameter, name) in operation.parameters.iter().zip(names) {
            let is_value = parameter.direction == Direction::In && self.is_by_value(parameter);
            arguments += if is_value { ", nc_call->" } else { ", &nc_call->" };
            arguments += &name;
        }
        let returns = operation.returns.is_some();
        if returns {
            let (declared, _) = self.c.run_signature(procedure);
            let star = if declared.ends_with('*') { "" } else { " " };
            text.line(format!("{declared}{star}nc_returned;"));
        }
        text.line("nearcall_begin(&nc_env);");
        let result = if returns { "nc_returned = " } else { "" };
        text.line(format!("{result}nc_run_{number}({arguments}, &nc_env);"));
        text.open("if (nc_env.outcome != NEARCALL_RETURNED) {");
        text.line("nearcall_deferred_raise(&nc_call->nc_call, &nc_env);");
        text.line("return;");
        text.close("}");
        let result = if returns { ", nc_returned" } else { "" };
        text.line(format!("nearcall_reply_{function}(nc_call{result});"));
        text.close("}");
        text.line("");
    }
}
