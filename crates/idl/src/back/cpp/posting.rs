//! Calls that are posted now and collected later (docs/design/0007), over C's halves.

use crate::back::c::halves::half;
use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;
use crate::back::cpp::Cpp;
use crate::back::cpp::descriptors;
use crate::back::cpp::interface::USING;
use crate::model::Direction;

impl Cpp<'_, '_> {
    /// The class whose functions post, of a client of `c`, if there is anything to post. Its name.
    pub fn print_posting(
        &self,
        own: String,
        c: &str,
        (procedures, functions): (&[Procedure<'_>], &[String]),
        text: &mut Text,
    ) -> Option<String> {
        if !procedures.iter().any(|one| one.operation.is_posted()) {
            return None;
        }
        text.line("/* Posts calls; what each function returns collects the results. */");
        text.open(format!("class {own} {{"));
        text.label("  public:");
        text.line(format!("explicit {own}(const ::{c} *client) : nc_client_(client) {{}}"));
        let all = || procedures.iter().zip(functions).filter(|(one, _)| one.operation.is_posted());
        for (procedure, name) in all() {
            text.doc(&procedure.operation.doc);
            self.print_post(*procedure, name, text);
        }
        text.label("  private:");
        for (procedure, name) in all() {
            self.print_collect(*procedure, name, text);
        }
        text.line(format!("const ::{c} *nc_client_;"));
        text.close("};");
        Some(own)
    }

    /// What a collection evaluates to: what is returned, then what the procedure may change.
    fn collected(&self, procedure: Procedure<'_>) -> Vec<(String, String)> {
        let operation = procedure.operation;
        let returned = self.returned(procedure, false).or(self.returned_memory(operation));
        let returned = returned.map(|declared| (declared, String::from("nc_returned")));
        let all = operation.parameters.iter().zip(self.c.parameter_names(operation));
        let changed = all.filter(|(parameter, _)| parameter.direction != Direction::In);
        let changed = changed.map(|(parameter, name)| match parameter.descriptor {
            Some(descriptor) => (descriptors::owned(descriptor), name),
            None => (self.type_name(&parameter.declared), name),
        });
        returned.into_iter().chain(changed).collect()
    }

    fn collected_type(&self, procedure: Procedure<'_>) -> String {
        match self.collected(procedure).as_slice() {
            [] => String::from("void"),
            [(one, _)] => one.clone(),
            all => {
                let all: Vec<&str> = all.iter().map(|(declared, _)| declared.as_str()).collect();
                format!("::std::tuple<{}>", all.join(", "))
            }
        }
    }

    fn print_post(&self, procedure: Procedure<'_>, name: &str, text: &mut Text) {
        let result = self.collected_type(procedure);
        let operation = half(procedure.operation, Direction::In);
        let plan = procedure.plan.posted(self.c.model, procedure.operation);
        let procedure = Procedure { operation: &operation, plan: &plan, ..procedure };
        let names = self.c.parameter_names(&operation);
        let (mut body, mut arguments) = (Text::default(), String::from("nc_client_"));
        let mut parameters = Vec::new();
        for ((parameter, own), index) in operation.parameters.iter().zip(&names).zip(0..) {
            if parameter.direction == Direction::Out {
                continue;
            }
            parameters.push(self.parameter(procedure, (index, parameter), own));
            let given = self.given(procedure, (index, parameter), own, &mut body);
            arguments += &format!(", {}", given.argument);
        }
        let pending = format!("::nearcall::pending<{result}>");
        text.open(format!("{pending} {name}({}) const {{", parameters.join(", ")));
        let body = body.finish();
        if body.contains("nc_give(") {
            text.line("using ::nearcall::detail::nc_give;");
        }
        let function = self.c.names.function(procedure.interface, plan.index);
        text.line("nearcall_environment nc_env;");
        text.line(format!("{pending} nc_pending(nc_collect_{name});"));
        text.lines(body.lines().map(String::from));
        let record = format!("nc_pending.record<::nearcall_posted_{function}>()");
        text.open(format!("if (!::nearcall_post_{function}({arguments}, {record}, &nc_env)) {{"));
        text.line("throw ::nearcall::call_error(nc_env);");
        text.close("}");
        text.line("return nc_pending;");
        text.close("}");
    }

    fn print_collect(&self, procedure: Procedure<'_>, name: &str, text: &mut Text) {
        let (result, returned) = (self.collected_type(procedure), self.returned(procedure, false));
        let operation = half(procedure.operation, Direction::Out);
        let procedure = Procedure { operation: &operation, ..procedure };
        let function = self.c.names.function(procedure.interface, procedure.plan.index);
        text.open(format!("static {result} nc_collect_{name}(nearcall_posted *nc_call) {{"));
        text.lines(USING.map(String::from));
        text.line("nearcall_environment nc_env;");
        let record = format!("::nearcall_posted_{function} *");
        text.line(format!("const auto nc_posted = reinterpret_cast<{record}>(nc_call);"));
        let (mut came, mut after) = (Vec::new(), Vec::new());
        let mut arguments = String::from("nc_posted");
        let collected = self.collected(procedure);
        let names = self.c.parameter_names(&operation);
        for ((parameter, own), index) in operation.parameters.iter().zip(&names).zip(0..) {
            let Some((declared, _)) = collected.iter().find(|(_, name)| name == own) else {
                continue;
            };
            text.line(format!("{declared} {own}{{}};"));
            let given = self.given(procedure, (index, parameter), own, text);
            arguments += &format!(", {}", given.argument);
            came.extend(given.came);
            after.extend(given.after);
        }
        if let Some(memory) = self.returned_memory(&operation) {
            text.line(format!("{memory} nc_returned{{}};"));
        }
        if let Some(given) = self.given_returned(&operation, text) {
            arguments += &format!(", {}", given.argument);
            came.extend(given.came);
        }
        let call = format!("::nearcall_collect_{function}({arguments}, &nc_env)");
        let one = returned.clone().unwrap_or_default();
        self.print_called(procedure, &call, &one, text);
        text.lines(came);
        self.print_thrown(procedure, text);
        if let Some(returned) = returned {
            text.lines(self.taken_returned(procedure, &returned));
        }
        text.lines(after);
        match collected.as_slice() {
            [] => {}
            [(_, one)] => text.line(format!("return {one};")),
            all => {
                let all = all.iter().map(|(_, name)| format!("::std::move({name})"));
                let all = all.collect::<Vec<_>>().join(", ");
                text.line(format!("return {result}({all});"));
            }
        }
        text.close("}");
    }
}
