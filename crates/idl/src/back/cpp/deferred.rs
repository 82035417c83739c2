//! Servers whose procedures reply later (design note 0014), over C's records of such calls.

use crate::back::c::deferred::is_deferred;
use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::back::cpp::Cpp;
use crate::back::cpp::clerk::print_clerk;
use crate::back::cpp::descriptors;
use crate::back::cpp::given::local_of;
use crate::back::cpp::interface::{Stands, USING};
use crate::model::{DeclarationId, Direction, Parameter};

impl Cpp<'_, '_> {
    /// The class of the server, and the one that exports it.
    pub fn print_async_server(
        &self,
        id: DeclarationId,
        c: &str,
        (procedures, functions): (&[Procedure<'_>], &[String]),
        text: &mut Text,
    ) {
        let [server, clerk] = ["Server", "Clerk"].map(|end| self.async_name(id, end));
        text.line(
            "/* The same of a domain that replies when it likes, from any thread: who is given an",
        );
        text.line(" * answer moves it to where it waits. What it throws before that is raised. */");
        text.open(format!("class {server} {{"));
        text.label("  public:");
        text.line(format!("virtual ~{server}() = default;"));
        for (procedure, name) in procedures.iter().zip(functions) {
            text.line(match is_deferred(*procedure) {
                true => format!("virtual void {name}({}) = 0;", self.async_parameters(*procedure)),
                false => self.declared_virtual(*procedure, name),
            });
        }
        text.close("};");
        let runs = |text: &mut Text| {
            for (procedure, name) in procedures.iter().zip(functions) {
                match is_deferred(*procedure) {
                    true => self.print_async_run(*procedure, name, &server, text),
                    false => self.print_ordinary_run(*procedure, name, &server, text),
                }
            }
        };
        print_clerk([&server, &clerk], (c, "async_"), functions, runs, text);
    }

    /// What such a class is called: `XAsyncServer` is the ordinary server of `XAsync`, too, which
    /// may be there.
    fn async_name(&self, id: DeclarationId, end: &str) -> String {
        let (space, own) = self.place(id);
        let others = self.c.plan.interfaces.iter().map(|plan| plan.id);
        let others = others.filter(|other| self.place(*other).0 == *space);
        let taken: Vec<String> = others
            .map(|other| self.unused(other, format!("{}{end}", self.place(other).1)))
            .collect();
        let mut name = self.unused(id, format!("{own}Async{end}"));
        while taken.contains(&name) {
            name = self.unused(id, format!("{name}_"));
        }
        name
    }

    /// Results, in the order that an answer takes them in.
    fn answered(&self, procedure: Procedure<'_>) -> Vec<(String, String)> {
        let operation = procedure.operation;
        let returned = self.returned(procedure, true).map(|one| (one, String::from("nc_returned")));
        let all = operation.parameters.iter().zip(self.c.parameter_names(operation));
        let changed = all.filter(|(parameter, _)| parameter.direction != Direction::In);
        let changed = changed.map(|(parameter, name)| (self.value_type(parameter), name));
        returned.into_iter().chain(changed).collect()
    }

    fn answer_type(&self, procedure: Procedure<'_>) -> String {
        let results = self.answered(procedure).into_iter().map(|(declared, _)| declared);
        format!("::nearcall::answer<{}>", results.collect::<Vec<_>>().join(", "))
    }

    fn value_type(&self, parameter: &Parameter) -> String {
        match parameter.descriptor {
            Some(descriptor) => descriptors::owned(descriptor),
            None => self.type_name(&parameter.declared),
        }
    }

    /// Arguments are values of the procedure's own.
    fn async_parameters(&self, procedure: Procedure<'_>) -> String {
        let operation = procedure.operation;
        let all = operation.parameters.iter().zip(self.c.parameter_names(operation));
        let given = all.filter(|(parameter, _)| parameter.direction != Direction::Out);
        let given = given.map(|(parameter, name)| format!("{} {name}", self.value_type(parameter)));
        let answer = format!("{} &&nc_answer", self.answer_type(procedure));
        given.chain([answer]).collect::<Vec<_>>().join(", ")
    }

    /// What C's entry stub calls, and what an answer calls.
    fn print_async_run(&self, procedure: Procedure<'_>, name: &str, server: &str, text: &mut Text) {
        self.print_reply(procedure, name, text);
        self.print_raise(procedure, name, text);
        let record = self.record(procedure);
        let (operation, answer) = (procedure.operation, self.answer_type(procedure));
        text.open(format!("static void run_{name}(void *nc_self, {record} *nc_call) {{"));
        text.line(format!("{answer} nc_answer(&nc_call->nc_call, reply_{name}, raise_{name});"));
        let names = self.c.parameter_names(operation);
        let all = operation.parameters.iter().zip(&names).zip(0..);
        let given = all.filter(|((parameter, _), _)| parameter.direction != Direction::Out);
        let (mut arguments, mut taken) = (Vec::new(), Text::default());
        for ((parameter, own), index) in given {
            let (declared, local) = (self.value_type(parameter), local_of(own));
            match self.stands(procedure, index, parameter) {
                Stands::Word => {
                    let came = format!("nc_call->{own}");
                    arguments.push(self.word(&parameter.declared, &declared, &came));
                }
                Stands::Descriptor(one) => {
                    let made = descriptors::made(one, &format!("nc_call->{own}"));
                    text.line(format!("{declared} {local}({made});"));
                    arguments.push(format!("::std::move({local})"));
                }
                _ => {
                    taken.line(format!("{declared} {local}{{}};"));
                    taken.line(format!("nc_take(nc_call->{own}, {local});"));
                    arguments.push(format!("::std::move({local})"));
                }
            }
        }
        arguments.push(String::from("::std::move(nc_answer)"));
        let taken = taken.finish();
        text.open("try {");
        if !taken.is_empty() {
            text.line("using ::nearcall::detail::nc_take;");
        }
        text.lines(taken.lines().map(String::from));
        let arguments = arguments.join(", ");
        text.line(format!("static_cast<{server} *>(nc_self)->{name}({arguments});"));
        text.label("} catch (...) {");
        let told = self.told(procedure);
        text.line(format!("::nearcall::detail::threw_unanswered(nc_answer, {told});"));
        text.close("}");
        text.close("}");
    }

    /// Puts results into the record, and has it replied with; or with that they cannot be sent.
    fn print_reply(&self, procedure: Procedure<'_>, name: &str, text: &mut Text) {
        let results = self.answered(procedure);
        let parameters = results.iter().map(|(declared, own)| format!(", {declared} &{own}"));
        let parameters: String = parameters.collect();
        text.open(format!("static void reply_{name}(nearcall_deferred *nc_call{parameters}) {{"));
        let (record, operation) = (self.record(procedure), procedure.operation);
        text.line(format!("auto *const nc_record = reinterpret_cast<{record} *>(nc_call);"));
        let function = self.c.names.function(procedure.interface, procedure.plan.index);
        let reply = format!("::nearcall_reply_{function}");
        if results.is_empty() {
            text.line(format!("{reply}(nc_record);"));
            text.close("}");
            return;
        }
        text.line("nearcall_environment nc_env;");
        text.line("nearcall_begin(&nc_env);");
        text.open("try {");
        text.line("using ::nearcall::detail::nc_give;");
        let returned = match (&operation.returns, operation.returns_descriptor) {
            (Some(_), Some(one)) => format!(", {}", descriptors::moved(one, "nc_returned")),
            (Some(declared), None) => {
                self.held(declared, "nc_held", text);
                text.line(self.given_returned_value(declared, ["nc_returned", "nc_held.value"]));
                String::from(", nc_held.moved()")
            }
            (None, _) => String::new(),
        };
        let names = self.c.parameter_names(operation);
        let changed = operation.parameters.iter().zip(&names);
        for (parameter, own) in changed.filter(|(one, _)| one.direction != Direction::In) {
            let place = format!("nc_record->{own}");
            match parameter.descriptor {
                Some(one) => text.line(format!("{place} = {};", descriptors::moved(one, own))),
                None => text.lines(self.changed(parameter, &place, own)),
            }
        }
        text.line(format!("{reply}(nc_record{returned});"));
        text.label("} catch (...) {");
        let told = self.told(procedure);
        text.line(format!("::nearcall::detail::threw(&nc_env, {told}, true);"));
        text.line("::nearcall_deferred_raise(nc_call, &nc_env);");
        text.close("}");
        text.close("}");
    }

    /// Has it replied with an exception of the interface, or with that the procedure has panicked.
    fn print_raise(&self, procedure: Procedure<'_>, name: &str, text: &mut Text) {
        text.line(format!("static void raise_{name}(nearcall_deferred *nc_call,"));
        text.open("    const ::std::exception_ptr &nc_thrown) {");
        text.line("nearcall_environment nc_own;");
        text.line("nearcall_environment *const nc_env = &nc_own;");
        text.line("nearcall_begin(nc_env);");
        text.open("try {");
        if !procedure.operation.raises.is_empty() {
            text.line(USING[0]);
        }
        text.line("::std::rethrow_exception(nc_thrown);");
        self.print_caught(procedure, false, text);
        text.line("::nearcall_deferred_raise(nc_call, nc_env);");
        text.close("}");
    }

    fn record(&self, procedure: Procedure<'_>) -> String {
        format!("::{}", self.c.deferred_record(procedure))
    }

    /// What its server's author knows it by, as a literal.
    fn told(&self, procedure: Procedure<'_>) -> String {
        let interface = &self.c.model.declaration(procedure.interface).name;
        quoted(&format!("{interface}::{}", procedure.operation.name))
    }
}
