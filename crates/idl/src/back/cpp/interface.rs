//! Clients and servers.

use crate::back::c::interface::{Procedure, is_lent_to};
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::back::cpp::Cpp;
use crate::back::cpp::caught::{HAS_RETURNED, NOT_RETURNED};
use crate::back::cpp::clerk::print_clerk;
use crate::back::cpp::descriptors;
use crate::back::cpp::given::{Given, given_memory, local_of};
use crate::layout::{Root, Shape, shape};
use crate::model::{DeclarationId, Descriptor, Direction, Parameter, Type};
use crate::plan::Passing;

/// What functions of C++ convert by.
pub const USING: [&str; 2] =
    ["using ::nearcall::detail::nc_give;", "using ::nearcall::detail::nc_take;"];

/// How a parameter stands in a function of C++.
pub enum Stands {
    Word,
    Text,
    Value,
    Descriptor(Descriptor),
    NewDescriptor(Descriptor),
    Changed,
    Lent,
    LentResult,
    LentBoth,
}

impl Cpp<'_, '_> {
    /// `interface`
    pub fn print_interface(&self, id: DeclarationId, text: &mut Text) {
        let Some(plan) = self.c.plan.interfaces.iter().find(|plan| plan.id == id) else { return };
        let all = self.c.procedures(plan).into_iter().zip(self.c.member_functions(plan));
        // What carries a feed is called by the feed alone.
        let own = all.filter(|(procedure, _)| !procedure.operation.carries_feed());
        let (procedures, functions): (Vec<_>, Vec<_>) = own.unzip();
        self.open_space(id, "HAS", text);
        let (own, c) = (self.place(id).1.clone(), self.c.names.declaration(id).to_owned());
        let posting = self.unused(id, format!("{own}Posting"));
        let posting = self.print_posting(posting, &c, (&procedures, &functions), text);
        text.doc(&self.c.model.declaration(id).doc);
        text.open(format!("class {own} {{"));
        text.label("  public:");
        for feed in self.c.feeds(plan).iter().filter(|feed| !feed.is_exchange()) {
            self.print_end(feed, text);
        }
        for exchange in self.c.exchanges(plan) {
            self.print_sides(&exchange, text);
        }
        print_binding((&own, &self.path(id)), &c, text);
        print_state(&own, &c, text);
        if is_lent_to(plan) {
            print_lend(&own, &c, text);
        }
        if let Some(posting) = posting {
            text.line(
                "/* Its operations, to be posted now and collected later; as long as `client`. */",
            );
            text.open(format!("friend {posting} posting(const {own} &client) {{"));
            text.line(format!("return {posting}(client.nc_own_.get());"));
            text.close("}");
            text.line("/* A client that goes at once has no calls under way. */");
            text.line(format!("friend {posting} posting(const {own} &&client) = delete;"));
        }
        for (procedure, name) in procedures.iter().zip(&functions) {
            text.doc(&procedure.operation.doc);
            self.print_call(*procedure, name, text);
        }
        text.label("  private:");
        text.open("struct nc_release {");
        text.line(format!("void operator()(::{c} *own) const {{ ::nearcall_release_{c}(own); }}"));
        text.close("};");
        text.line(format!("explicit {own}(::{c} *client) : nc_own_(client) {{}}"));
        text.line(format!("::std::unique_ptr<::{c}, nc_release> nc_own_;"));
        text.close("};");
        let [server, clerk] = ["Server", "Clerk"].map(|end| self.unused(id, format!("{own}{end}")));
        self.print_server([&server, &clerk], &c, (&procedures, &functions), text);
        if self.c.has_async_server(plan) {
            self.print_async_server(id, &c, (&procedures, &functions), text);
        }
        self.close_space(text);
    }

    pub fn stands(&self, procedure: Procedure<'_>, index: u32, parameter: &Parameter) -> Stands {
        let passing = procedure.plan.arguments.iter().find(|one| one.parameter == index);
        if let Some(descriptor) = parameter.descriptor {
            return match parameter.direction {
                Direction::In => Stands::Descriptor(descriptor),
                _ => Stands::NewDescriptor(descriptor),
            };
        }
        match passing.map(|one| one.passing) {
            Some(Passing::Lent) => Stands::Lent,
            Some(Passing::LentResult) => Stands::LentResult,
            Some(Passing::LentBoth) => Stands::LentBoth,
            _ if parameter.direction != Direction::In => Stands::Changed,
            _ if matches!(shape(self.c.model, &parameter.declared), Shape::Scalar(_)) => {
                Stands::Word
            }
            _ if self.c.is_text(&parameter.declared) => Stands::Text,
            _ => Stands::Value,
        }
    }

    /// Parameters of a client's function, or of a procedure.
    pub fn parameters(&self, procedure: Procedure<'_>, is_server: bool) -> String {
        let names = self.c.parameter_names(procedure.operation);
        let mut all = Vec::new();
        let spelled = procedure.operation.spelled_parameters().iter();
        for ((parameter, name), index) in spelled.zip(names).zip(0..) {
            match (self.stands(procedure, index, parameter), is_server) {
                (Stands::Descriptor(own), true) => {
                    all.push(format!("{} {name}", descriptors::owned(own)));
                }
                (Stands::Lent, true) => all.push(format!("const ::nearcall::opaque &{name}")),
                (Stands::LentBoth, true) => {
                    all.push(format!("const ::nearcall::opaque &{name}"));
                    all.push(format!("::nearcall::room &{name}_out"));
                }
                (Stands::LentResult, true) => all.push(format!("::nearcall::room &{name}")),
                _ => all.push(self.parameter(procedure, (index, parameter), &name)),
            }
        }
        if is_server && procedure.plan.lent_result == Some(Root::Returned) {
            all.push(String::from("::nearcall::room &nc_room"));
        }
        if is_server {
            all.extend(self.exchange_parameters(procedure));
        } else {
            let memory = self.returned_memory(procedure.operation);
            all.extend(memory.map(|declared| format!("{declared} &nc_returned")));
        }
        all.join(", ")
    }

    /// A parameter of a client's function, and of a procedure where it stands there likewise.
    pub fn parameter(
        &self,
        procedure: Procedure<'_>,
        (index, parameter): (u32, &Parameter),
        name: &str,
    ) -> String {
        let declared = self.type_name(&parameter.declared);
        match self.stands(procedure, index, parameter) {
            Stands::Word => format!("{declared} {name}"),
            Stands::Descriptor(given) => format!("{} {name}", descriptors::number(given)),
            Stands::NewDescriptor(own) => format!("{} &{name}", descriptors::owned(own)),
            Stands::Changed | Stands::LentResult | Stands::LentBoth => {
                format!("{declared} &{name}")
            }
            Stands::Lent => format!("::nearcall::bytes {name}"),
            Stands::Text | Stands::Value => format!("const {declared} &{name}"),
        }
    }

    pub fn returned(&self, procedure: Procedure<'_>, is_server: bool) -> Option<String> {
        if let Some(feed) = self.feed_type(procedure, is_server) {
            return Some(feed);
        }
        if let Some(descriptor) = procedure.operation.returns_descriptor {
            return Some(descriptors::owned(descriptor));
        }
        if procedure.operation.opens_exchange() {
            return None;
        }
        let operation = procedure.operation;
        let is_room = is_server && procedure.plan.lent_result == Some(Root::Returned);
        let is_parameter = is_room || (!is_server && operation.returns_prealloc);
        let declared = operation.returns.as_ref().filter(|_| !is_parameter)?;
        Some(self.type_name(declared))
    }

    /// Whether what comes back is one thing that gives itself back, in C a number or a pointer.
    fn is_one_thing(procedure: Procedure<'_>) -> bool {
        procedure.operation.feed.is_some() || procedure.operation.returns_descriptor.is_some()
    }

    /// A value of C that gives back what it holds.
    pub fn held(&self, declared: &Type, name: &str, text: &mut Text) {
        let c = self.c.type_name(declared);
        // Not `value`, as parameters of operations may be called.
        let (parameter, free) = match self.c.free(declared, "nc_freed") {
            Some(free) => (" &nc_freed", free),
            None => (" &", String::new()),
        };
        let free = format!("[]({c}{parameter}) {{ {free} }}").replace("{  }", "{}");
        // Not behind the name, where it would be what the local of another parameter is called.
        let free_name = name.replacen("nc_", "nc_free_", 1);
        text.line(format!("auto {free_name} = {free};"));
        let class = format!("::nearcall::detail::held<{c}, decltype({free_name})>");
        text.line(format!("{class} {name}({free_name});"));
    }

    fn print_call(&self, procedure: Procedure<'_>, name: &str, text: &mut Text) {
        let operation = procedure.operation;
        let returned = self.returned(procedure, false);
        let (result, parameters) =
            (returned.clone().unwrap_or("void".into()), self.parameters(procedure, false));
        text.open(format!("{result} {name}({parameters}) const {{"));
        text.lines(USING.map(String::from));
        text.line("nearcall_environment nc_env;");
        let mut arguments = String::from("nc_own_.get()");
        let (mut came, mut after) = (Vec::new(), Vec::new());
        let names = self.c.parameter_names(operation);
        let spelled = operation.spelled_parameters().iter();
        for ((parameter, own), index) in spelled.zip(&names).zip(0..) {
            let given = self.given(procedure, (index, parameter), own, text);
            arguments += &format!(", {}", given.argument);
            came.extend(given.came);
            after.extend(given.after);
        }
        if let Some(given) = self.given_returned(operation, text) {
            arguments += &format!(", {}", given.argument);
            came.extend(given.came);
        }
        let function = self.c.names.function(procedure.interface, procedure.plan.index);
        let call = format!("::{function}({arguments}, &nc_env)");
        self.print_called(procedure, &call, &result, text);
        text.lines(came);
        self.print_thrown(procedure, text);
        if let Some(returned) = returned {
            after.splice(0..0, self.taken_returned(procedure, &returned));
            after.push(String::from("return nc_returned;"));
        }
        text.lines(after);
        text.close("}");
    }

    /// What makes a value of C++ of what a function of C has returned, if it is not one already.
    pub fn taken_returned(&self, procedure: Procedure<'_>, returned: &str) -> Vec<String> {
        match Self::is_one_thing(procedure) {
            true => Vec::new(),
            false => vec![
                format!("{returned} nc_returned{{}};"),
                String::from("nc_take(nc_held.value, nc_returned);"),
            ],
        }
    }

    /// How an argument of a client's function is given to C's, with locals for that.
    pub fn given(
        &self,
        procedure: Procedure<'_>,
        (index, parameter): (u32, &Parameter),
        own: &str,
        text: &mut Text,
    ) -> Given {
        let (declared, local) = (&parameter.declared, local_of(own));
        if let Some((record, _)) = self.c.prealloc(parameter) {
            return given_memory(&record, own, text);
        }
        match self.stands(procedure, index, parameter) {
            Stands::Word => Given::plain(self.word(declared, &self.c.type_name(declared), own)),
            Stands::Text => {
                let name = quoted(&parameter.name);
                text.line(format!("::nearcall::detail::check_text({name}, {own});"));
                Given::plain(format!("{own}.c_str()"))
            }
            Stands::Descriptor(descriptor) => Given::plain(descriptors::given(descriptor, own)),
            Stands::Lent => {
                let c = self.c.type_name(declared);
                text.line(format!("auto {local} = ::nearcall::detail::in_place<{c}>({own});"));
                Given::plain(format!("&{local}"))
            }
            Stands::NewDescriptor(descriptor) => {
                text.line(format!("int {local} = -1;"));
                let made = descriptors::made(descriptor, &local);
                let came = format!("{} nc_came_{own}({made});", descriptors::owned(descriptor));
                let after = format!("{own} = ::std::move(nc_came_{own});");
                Given { argument: format!("&{local}"), came: Some(came), after: Some(after) }
            }
            _ => {
                self.held(declared, &local, text);
                if parameter.direction != Direction::Out {
                    let value = format!("{local}.value");
                    text.line(self.given_named(declared, &parameter.name, [own, &value], 0));
                }
                let is_changed = parameter.direction != Direction::In;
                let after = is_changed.then(|| format!("nc_take({local}.value, {own});"));
                Given { argument: format!("&{local}.value"), came: None, after }
            }
        }
    }

    /// The call of a function of C, and a local for what it returns.
    pub fn print_called(
        &self,
        procedure: Procedure<'_>,
        call: &str,
        result: &str,
        text: &mut Text,
    ) {
        let returned = procedure.operation.returns.as_ref();
        match returned.filter(|_| !procedure.operation.returns_prealloc) {
            Some(_) if procedure.operation.opens_exchange() => {
                text.line(format!("const auto nc_sides = {call};"));
                text.lines(self.sides_made(procedure));
            }
            Some(_) if Self::is_one_thing(procedure) => {
                let descriptor = procedure.operation.returns_descriptor;
                let made = descriptor.map(|one| descriptors::made(one, call));
                let made = made.as_deref().unwrap_or(call);
                text.line(format!("{result} nc_returned({made});"));
            }
            Some(declared) => {
                self.held(declared, "nc_held", text);
                text.line(format!("nc_held.value = {call};"));
            }
            None => text.line(format!("{call};")),
        }
    }

    /// What was raised, and errors, as exceptions.
    pub fn print_thrown(&self, procedure: Procedure<'_>, text: &mut Text) {
        for id in &procedure.operation.raises {
            let (c, own) = (self.c.names.declaration(*id), self.path(*id));
            text.open(format!("if (const ::{c} *nc_raised = ::nearcall_raised_{c}(&nc_env)) {{"));
            text.line(format!("{own} nc_thrown;"));
            text.line("nc_take(*nc_raised, nc_thrown);");
            text.line("::nearcall_environment_release(&nc_env);");
            text.line("throw nc_thrown;");
            text.close("}");
        }
        text.open("if (nc_env.outcome != NEARCALL_RETURNED) {");
        text.line("throw ::nearcall::call_error(nc_env);");
        text.close("}");
    }

    fn print_server(
        &self,
        [server, clerk]: [&str; 2],
        c: &str,
        (procedures, functions): (&[Procedure<'_>], &[String]),
        text: &mut Text,
    ) {
        text.line(
            "/* What a domain that exports it does. Procedures may run at once, on any thread. */",
        );
        text.open(format!("class {server} {{"));
        text.label("  public:");
        text.line(format!("virtual ~{server}() = default;"));
        for (procedure, name) in procedures.iter().zip(functions) {
            text.line(self.declared_virtual(*procedure, name));
        }
        text.close("};");
        let runs = |text: &mut Text| {
            for (procedure, name) in procedures.iter().zip(functions) {
                self.print_ordinary_run(*procedure, name, server, text);
            }
        };
        print_clerk([server, clerk], (c, ""), functions, runs, text);
    }

    /// A procedure of a server that runs it to its end.
    pub fn declared_virtual(&self, procedure: Procedure<'_>, name: &str) -> String {
        let result = self.returned(procedure, true).unwrap_or("void".into());
        format!("virtual {result} {name}({}) = 0;", self.parameters(procedure, true))
    }

    /// What C's entry stub calls of a procedure, and what that needs.
    pub fn print_ordinary_run(
        &self,
        procedure: Procedure<'_>,
        name: &str,
        server: &str,
        text: &mut Text,
    ) {
        match self.c.exchange_of(procedure) {
            Some(exchange) => self.print_exchange(&exchange, name, text),
            None => self.print_made(procedure, name, text),
        }
        self.print_run(procedure, name, server, text);
    }

    fn print_run(&self, procedure: Procedure<'_>, name: &str, server: &str, text: &mut Text) {
        let (result, parameters) = self.c.run_signature(procedure);
        let star = if result.ends_with('*') { "" } else { " " };
        text.open(format!("static {result}{star}run_{name}(void *nc_self{parameters}) {{"));
        let returned = self.returned(procedure, true).and(procedure.operation.returns.as_ref());
        let is_feed = procedure.operation.feed.is_some();
        let descriptor = procedure.operation.returns_descriptor;
        match returned {
            Some(_) if is_feed => text.line(format!("{result} nc_returned{{}};")),
            Some(_) if descriptor.is_some() => text.line("int nc_returned = -1;"),
            Some(declared) => self.held(declared, "nc_returned", text),
            None => {}
        }
        self.own_descriptors(procedure, text);
        text.lines(self.exchange_ends(procedure, name));
        text.line(NOT_RETURNED);
        text.open("try {");
        text.lines(USING.map(String::from));
        let (arguments, after) = self.print_arguments(procedure, text);
        let call = format!("static_cast<{server} *>(nc_self)->{name}({})", arguments.join(", "));
        match (returned, descriptor) {
            (Some(_), _) if is_feed => text.line(format!("auto nc_made = {call};")),
            (Some(_), Some(one)) => {
                text.line(format!("nc_returned = {};", descriptors::released(one, &call)));
            }
            (Some(_), None) => text.line(format!("const auto nc_value = {call};")),
            (None, _) => text.line(format!("{call};")),
        }
        text.line(HAS_RETURNED);
        match returned {
            Some(_) if is_feed => text.lines(self.made(procedure, name)),
            Some(declared) if descriptor.is_none() => {
                text.line(self.given_returned_value(declared, ["nc_value", "nc_returned.value"]));
            }
            _ => {}
        }
        text.lines(after);
        self.print_caught(procedure, true, text);
        if returned.is_some() {
            let is_plain = Self::is_one_thing(procedure);
            text.line(if is_plain { "return nc_returned;" } else { "return nc_returned.moved();" });
        }
        text.close("}");
    }

    /// Makes arguments of C++: what they are, and what gives C what becomes of them.
    fn print_arguments(
        &self,
        procedure: Procedure<'_>,
        text: &mut Text,
    ) -> (Vec<String>, Vec<String>) {
        let mut arguments = Vec::new();
        let mut after = Vec::new();
        let names = self.c.parameter_names(procedure.operation);
        let all = procedure.operation.spelled_parameters().iter().zip(&names).zip(0..);
        for ((parameter, own), index) in all {
            let (declared, given) = (self.type_name(&parameter.declared), local_of(own));
            match self.stands(procedure, index, parameter) {
                Stands::Word => arguments.push(self.word(&parameter.declared, &declared, own)),
                Stands::Descriptor(_) => arguments.push(format!("::std::move({given})")),
                Stands::NewDescriptor(one) => {
                    after.push(format!("*{own} = {};", descriptors::moved(one, &given)));
                    arguments.push(given);
                }
                Stands::Lent => arguments.push(format!("::nearcall::opaque({own})")),
                Stands::LentResult => {
                    text.line(format!("::nearcall::room {given}({own});"));
                    arguments.push(given);
                }
                Stands::LentBoth => {
                    text.line(format!("::nearcall::room {given}({own}_out);"));
                    arguments.extend([format!("::nearcall::opaque({own})"), given]);
                }
                Stands::Changed => {
                    text.line(format!("{declared} {given}{{}};"));
                    if parameter.direction == Direction::Inout {
                        text.line(format!("nc_take(*{own}, {given});"));
                    }
                    after.extend(self.changed(parameter, &format!("*{own}"), &given));
                    arguments.push(given);
                }
                Stands::Text | Stands::Value => {
                    let source = if self.c.is_text(&parameter.declared) { "" } else { "*" };
                    let (local, value) = match self.c.owns(&parameter.declared) {
                        true => (format!("::nearcall::detail::kept<{declared}> {given};"), "*"),
                        false => (format!("{declared} {given}{{}};"), ""),
                    };
                    let value = format!("{value}{given}");
                    text.line(local);
                    text.line(format!("nc_take({source}{own}, {value});"));
                    arguments.push(value);
                }
            }
        }
        if procedure.plan.lent_result == Some(Root::Returned) {
            text.line("::nearcall::room nc_in_place(nc_room);");
            arguments.push(String::from("nc_in_place"));
        }
        if procedure.operation.opens_exchange() {
            arguments.extend(["::std::move(nc_in)", "::std::move(nc_out)"].map(String::from));
        }
        (arguments, after)
    }

    /// Descriptors of a procedure, before anything can fail.
    fn own_descriptors(&self, procedure: Procedure<'_>, text: &mut Text) {
        let names = self.c.parameter_names(procedure.operation);
        let all = procedure.operation.spelled_parameters().iter().zip(&names).zip(0..);
        for ((parameter, own), index) in all {
            let local = local_of(own);
            match self.stands(procedure, index, parameter) {
                Stands::Descriptor(one) => {
                    let made = descriptors::made(one, own);
                    text.line(format!("{} {local}({made});", descriptors::owned(one)));
                }
                Stands::NewDescriptor(one) => {
                    text.line(format!("{} {local};", descriptors::owned(one)));
                }
                _ => {}
            }
        }
    }

    /// Puts what the procedure made of a parameter in the place of what was there.
    pub fn changed(&self, parameter: &Parameter, own: &str, given: &str) -> Vec<String> {
        let declared = &parameter.declared;
        let mut lines = vec![String::from("{")];
        let mut inner = Text::default();
        self.held(declared, "nc_new", &mut inner);
        lines.extend(inner.finish().lines().map(|line| format!("    {line}")));
        let new = [given, "nc_new.value"];
        lines.push(format!("    {}", self.given_named(declared, &parameter.name, new, 0)));
        lines.extend(self.c.free(declared, &format!("({own})")).map(|free| format!("    {free}")));
        lines.push(format!("    {own} = nc_new.moved();"));
        lines.push(String::from("}"));
        lines
    }
}

/// How one binds: by a name, or by an introduction, which whoever is bound gives.
fn print_binding((own, path): (&str, &str), c: &str, text: &mut Text) {
    let throw_unless = |there: &str, text: &mut Text| {
        text.lines([format!("if (!{there}) {{"), "    throw ::nearcall::call_error(env);".into()]);
        text.line("}");
    };
    text.line("/* Binds to the domain that exports `name`. */");
    text.line(format!("{own}(const ::nearcall::domain &domain, const ::std::string &name,"));
    text.open("    const ::nearcall::import_options &options = {}) {");
    text.line("nearcall_environment env;");
    text.line("const nearcall_import_options knobs = options.c();");
    let import = format!("::nearcall_import_with_{c}(domain.c(), name.c_str(), &knobs, &env)");
    text.line(format!("nc_own_.reset({import});"));
    throw_unless("nc_own_", text);
    text.close("}");
    text.line("/* The binding to the server's present life: the same while it holds, else one to");
    text.line(" * whoever exports the name now. */");
    text.open(format!("friend {own} rebind(const {own} &client) {{"));
    text.line("nearcall_environment env;");
    text.line(format!("{path} rebound(::nearcall_rebind_{c}(client.nc_own_.get(), &env));"));
    throw_unless("rebound.nc_own_", text);
    text.line("return rebound;");
    text.close("}");
    text.lines(
        [
            "/* The same binding, whose calls take at most so long, whatever they wait for. Past",
            " * that they throw call_error: NEARCALL_CALL_ABORTED, or what was not posted",
            " * NEARCALL_NO_ASTACK or NEARCALL_NOT_EXECUTED; with 0 or less none is posted. Any",
            " * duration of std::chrono will do. */",
        ]
        .map(String::from),
    );
    text.line(format!("friend {own} with_deadline(const {own} &client,"));
    text.open("    ::std::chrono::nanoseconds deadline) {");
    text.line("const auto deadline_ns = ::nearcall::detail::deadline_ns(deadline);");
    let hasty = format!("::nearcall_with_deadline_{c}(client.nc_own_.get(), deadline_ns)");
    text.line(format!("return {path}({hasty});"));
    text.close("}");
    text.line("/* Binds to what somebody else is bound to, whose introduction is used up. */");
    let introduction = "::nearcall::descriptor introduction";
    text.open(format!("{own}(const ::nearcall::domain &domain, {introduction}) {{"));
    text.line("nearcall_environment env;");
    let introduced = format!("::nearcall_introduced_{c}(domain.c(), introduction.release(), &env)");
    text.line(format!("nc_own_.reset({introduced});"));
    throw_unless("nc_own_", text);
    text.close("}");
    text.line("/* An introduction to the same server, for one import. */");
    text.open(format!("friend ::nearcall::descriptor introduce(const {own} &client) {{"));
    text.line("nearcall_environment env;");
    text.line(format!("{introduction}(::nearcall_introduce_{c}(client.nc_own_.get(), &env));"));
    throw_unless("introduction", text);
    text.line("return introduction;");
    text.close("}");
}

fn print_state(own: &str, c: &str, text: &mut Text) {
    text.line("/* What has become of its binding, as long as the client lives. */");
    text.open(format!("friend ::nearcall::binding_state binding(const {own} &client) {{"));
    let binding = format!("::nearcall_binding_{c}(client.nc_own_.get())");
    text.line(format!("return ::nearcall::binding_state({binding});"));
    text.close("}");
}

fn print_lend(own: &str, c: &str, text: &mut Text) {
    text.line("/* Memory of so many bytes, all 0, that the server reads in place. */");
    text.open(format!("friend ::nearcall::lent lend(const {own} &client, ::std::size_t size) {{"));
    text.line("nearcall_environment env;");
    let lend = format!("::nearcall_lend_to_{c}(client.nc_own_.get(), size, &env)");
    text.line(format!("::nearcall::lent made({lend}, size);"));
    text.lines(["if (!made) {", "    throw ::nearcall::call_error(env);", "}"].map(String::from));
    text.line("return made;");
    text.close("}");
}
