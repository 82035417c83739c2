//! What both sides of an interface share: its descriptor, signatures, and the declarations.

use crate::back::c::C;
use crate::back::c::client::{fixed_bytes, reply_bytes};
use crate::back::c::guards::print_loop_guard;
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::layout::{Root, Shape, memory_bytes, shape};
use crate::model::{DeclarationId, Direction, Kind, Operation, Parameter, Type};
use crate::plan::{InterfacePlan, Passing, ProcedurePlan};

/// Changes whenever how a loop enters an operation, or how it is exported, does: a copy that
/// somebody has edited is then of no header any more.
const LOOP: &str = "nearcall loop 1\n";

/// One operation with everything that its two stubs are printed from.
#[derive(Clone, Copy)]
pub struct Procedure<'p> {
    /// The interface that is printed.
    pub interface: DeclarationId,
    /// The operation.
    pub operation: &'p Operation,
    /// Its plan.
    pub plan: &'p ProcedurePlan,
}

impl C<'_> {
    /// The procedures of an interface, in the order of their indices.
    pub fn procedures<'p>(&'p self, plan: &'p InterfacePlan) -> Vec<Procedure<'p>> {
        let Kind::Interface(interface) = &self.model.declaration(plan.id).kind else {
            return Vec::new();
        };
        let pairs = interface.operations.iter().zip(&plan.procedures);
        pairs
            .map(|(operation, own)| Procedure { interface: plan.id, operation, plan: own })
            .collect()
    }

    /// Most bytes of the fixed part of a message, or of all values that a procedure takes and
    /// gives: stubs have them on the stack, some of them more than once.
    fn stub_bytes_max(&self, plan: &InterfacePlan) -> u32 {
        let bytes = |one: &Procedure<'_>| {
            let fixed = fixed_bytes(&one.plan.client.request).max(reply_bytes(one.plan));
            self.value_bytes(one.operation).max(fixed.into())
        };
        let most = self.procedures(plan).iter().map(bytes).max().unwrap_or_default();
        most.try_into().unwrap_or(u32::MAX)
    }

    /// Bytes of an operation's values in memory, at most.
    fn value_bytes(&self, operation: &Operation) -> u64 {
        let bytes = |declared: &Type| memory_bytes(self.model, declared);
        let given = operation.parameters.iter().map(|one| &one.declared).chain(&operation.returns);
        let raised = operation.raises.iter().map(|id| bytes(&Type::Named(*id))).max();
        given.map(bytes).chain(raised).fold(0, u64::saturating_add)
    }

    /// Declarations of an interface, for the header.
    pub fn print_interface(&self, plan: &InterfacePlan, text: &mut Text) {
        let (name, declaration) =
            (self.names.declaration(plan.id), self.model.declaration(plan.id));
        text.doc(&declaration.doc);
        text.line(format!("typedef struct {name} {name};"));
        text.line(format!("extern const nearcall_interface nearcall_interface_{name};"));
        text.line("");
        self.print_import(name, text);
        if is_lent_to(plan) {
            print_lend(name, text);
        }
        for procedure in self.procedures(plan) {
            text.doc(&procedure.operation.doc);
            match self.feed_of(plan, procedure) {
                None => text.line(format!("{};", self.stub_signature(procedure))),
                Some(_) if procedure.operation.carries_feed() => {}
                Some(feed) => match self.exchange_of(procedure) {
                    Some(exchange) => self.declare_exchange(&exchange, text),
                    None => self.declare_feed(&feed, text),
                },
            }
        }
        text.line("");
        for procedure in self.procedures(plan) {
            if procedure.operation.is_posted() {
                self.declare_halves(procedure, text);
            }
        }
        text.line("");
        for feed in self.feeds(plan) {
            self.print_made(&feed, text);
        }
        print_loop_guard(name, &self.operations(plan), text);
        text.line(
            "/* What a domain that exports it does. Procedures may run at once, on any thread. */",
        );
        text.open(format!("typedef struct nearcall_server_{name} {{"));
        text.line("void *self;");
        let names = self.member_functions(plan);
        let all = self.procedures(plan).into_iter().zip(&names);
        for (procedure, own) in all.filter(|(one, _)| !one.operation.carries_feed()) {
            let (returns, parameters) = self.run_signature(procedure);
            let star = if returns.ends_with('*') { "" } else { " " };
            text.line(format!("{returns}{star}(*{own})(void *nc_self{parameters});"));
        }
        text.close(format!("}} nearcall_server_{name};"));
        text.line("");
        for procedure in self.procedures(plan) {
            text.line(format!("{};", self.entry_signature(procedure)));
        }
        self.print_export(name, &format!("nearcall_server_{name}"), text);
        self.declare_async_server(plan, text);
    }

    /// What exports a server of a type.
    pub fn print_export(&self, name: &str, server: &str, text: &mut Text) {
        text.lines(
            [
                "/* Exports it under `name`; null after an error: NEARCALL_USAGE if a function is",
                " * lacking. `server` stays until the domain is shut down. In the file of the",
                " * server's loop. */",
            ]
            .map(String::from),
        );
        text.line(format!(
            "nearcall_clerk *nearcall_export_with_{name}(const nearcall_domain *domain,"
        ));
        text.line(format!("    const char *name, const {server} *server,"));
        text.line("    const nearcall_export_options *options, nearcall_environment *env);");
        text.line("/* The same without options: to processes of this user. */");
        text.line(format!(
            "NEARCALL_INLINE nearcall_clerk *nearcall_export_{name}(const nearcall_domain *domain,"
        ));
        text.line(format!("    const char *name, const {server} *server,"));
        text.open("    nearcall_environment *env) {");
        text.line(format!(
            "return nearcall_export_with_{name}(domain, name, server, \
             NEARCALL_NULL, env);"
        ));
        text.close("}");
        text.line("");
    }

    fn print_import(&self, name: &str, text: &mut Text) {
        text.line("/* Binds to the domain that exports `name`; null after an error. */");
        text.line(format!(
            "NEARCALL_INLINE {name} *nearcall_import_{name}(const nearcall_domain *domain,"
        ));
        text.open("    const char *name, nearcall_environment *env) {");
        text.line("nearcall_begin(env);");
        let import = format!("nearcall_import(domain, name, &nearcall_interface_{name}");
        text.line(format!("return NEARCALL_POINTER(struct {name} *, {import},"));
        text.line("    NEARCALL_NULL, env));");
        text.close("}");
        text.line("/* The same with knobs. */");
        text.line(format!(
            "NEARCALL_INLINE {name} *nearcall_import_with_{name}(const nearcall_domain *domain,"
        ));
        text.line("    const char *name, const nearcall_import_options *options,");
        text.open("    nearcall_environment *env) {");
        text.line("nearcall_begin(env);");
        text.line(format!("return NEARCALL_POINTER(struct {name} *, {import},"));
        text.line("    options, env));");
        text.close("}");
        self.print_introductions(name, text);
        self.print_rebind(name, text);
        text.line("/* The same binding, whose calls wait at most so long; with 0 none is posted.");
        text.line(" * Released by itself. */");
        text.line(format!(
            "NEARCALL_INLINE {name} *nearcall_with_deadline_{name}(const {name} *client,"
        ));
        text.open("    uint64_t deadline_ns) {");
        text.line(format!("const nearcall_client *plain = {PLAIN};"));
        text.line(format!("return NEARCALL_POINTER(struct {name} *,"));
        text.line("    nearcall_with_deadline(plain, deadline_ns));");
        text.close("}");
        text.line("/* The binding by itself, to ask what nearcall.h asks of one. */");
        text.line(format!("NEARCALL_INLINE const nearcall_client *nearcall_binding_{name}("));
        text.open(format!("    const {name} *client) {{"));
        text.line(format!("return {PLAIN};"));
        text.close("}");
        text.open(format!("NEARCALL_INLINE void nearcall_release_{name}({name} *client) {{"));
        text.line("nearcall_client_release(NEARCALL_POINTER(nearcall_client *, client));");
        text.close("}");
        text.line("");
    }

    fn print_rebind(&self, name: &str, text: &mut Text) {
        text.line(
            "/* The binding to the server's present life: the same while it holds, else one to",
        );
        text.line(" * whoever exports the name now; released by itself; null after an error. */");
        text.line(format!("NEARCALL_INLINE {name} *nearcall_rebind_{name}(const {name} *client,"));
        text.open("    nearcall_environment *env) {");
        text.line("nearcall_begin(env);");
        text.line(format!("return NEARCALL_POINTER(struct {name} *,"));
        text.line(format!("    nearcall_rebind({PLAIN}, env));"));
        text.close("}");
    }

    fn print_introductions(&self, name: &str, text: &mut Text) {
        text.line("/* Binds to what somebody else is bound to, whose introduction is used up and");
        text.line(" * closed; null after an error. */");
        text.line(format!(
            "NEARCALL_INLINE {name} *nearcall_introduced_{name}(const nearcall_domain *domain,"
        ));
        text.open("    int introduction, nearcall_environment *env) {");
        text.line("nearcall_begin(env);");
        text.line(format!(
            "return NEARCALL_POINTER(struct {name} *, nearcall_introduced(domain, introduction,"
        ));
        text.line(format!("    &nearcall_interface_{name}, env));"));
        text.close("}");
        text.line(
            "/* An introduction to the same server, for one import; the caller's, who closes it.",
        );
        text.line(" * -1 after an error. */");
        text.line(format!("NEARCALL_INLINE int nearcall_introduce_{name}(const {name} *client,"));
        text.open("    nearcall_environment *env) {");
        text.line("nearcall_begin(env);");
        text.line(format!("return nearcall_introduce({PLAIN}, env);"));
        text.close("}");
    }

    /// What the procedures are called in the record of a server.
    pub fn member_functions(&self, plan: &InterfacePlan) -> Vec<String> {
        let procedures = self.procedures(plan);
        let names = procedures.iter().map(|procedure| &*procedure.operation.name);
        // `self` is a member of the record, and a class of C++ is called as the interface.
        let own = self.model.declaration(plan.id).name.0.last().map_or("", String::as_str);
        self.names.beside(["self", own].into_iter().chain(names)).split_off(2)
    }

    /// Parameters, named as nothing else in a stub is.
    pub fn parameter_names(&self, operation: &Operation) -> Vec<String> {
        self.names.parameters(operation.parameters.iter().map(|parameter| &*parameter.name))
    }

    pub fn returned_type(&self, operation: &Operation) -> String {
        match &operation.returns {
            Some(_) if operation.returns_descriptor.is_some() => String::from("int"),
            Some(declared) => self.type_name(declared),
            None => String::from("void"),
        }
    }

    /// The head of a call stub. Those of a feed are called by its functions alone.
    pub fn stub_signature(&self, procedure: Procedure<'_>) -> String {
        let Procedure { interface, operation, plan } = procedure;
        let function = self.names.function(interface, plan.index);
        let returns = self.call_returned_type(operation);
        match &operation.feed {
            None => self.call_signature(procedure, &returns, function),
            Some(_) => {
                let function = self.stub_name(procedure);
                self.call_signature(procedure, &format!("static {returns}"), &function)
            }
        }
    }

    /// What a call stub is called: that of a feed leaves its name to the function that opens it.
    pub fn stub_name(&self, procedure: Procedure<'_>) -> String {
        let Procedure { interface, operation, plan } = procedure;
        let function = self.names.function(interface, plan.index);
        match operation.feed.is_some() && !operation.carries_feed() {
            true => format!("nearcall_open_{function}"),
            false => function.to_owned(),
        }
    }

    /// The head of a function that calls.
    pub fn call_signature(
        &self,
        procedure: Procedure<'_>,
        returns: &str,
        function: &str,
    ) -> String {
        self.call_signature_of(procedure, &procedure.operation.parameters, returns, function)
    }

    /// The same, of one that has some of the parameters.
    pub fn call_signature_of(
        &self,
        procedure: Procedure<'_>,
        parameters: &[Parameter],
        returns: &str,
        function: &str,
    ) -> String {
        let Procedure { interface, operation, .. } = procedure;
        let own = self.names.declaration(interface);
        let star = if returns.ends_with('*') { "" } else { " " };
        let mut text = format!("{returns}{star}{function}(const {own} *nc_client");
        for (parameter, name) in parameters.iter().zip(self.parameter_names(operation)) {
            text += ", ";
            text += &self.call_parameter(parameter, &name);
        }
        if let Some(returned) = self.returned_parameter(operation) {
            text += &format!(", {returned}");
        }
        text + ", nearcall_environment *nc_env)"
    }

    /// What a procedure returns, and its parameters after the first.
    pub fn run_signature(&self, procedure: Procedure<'_>) -> (String, String) {
        let Procedure { operation, plan, .. } = procedure;
        let mut text = String::new();
        let spelled = operation.spelled_parameters().iter();
        let all = spelled.zip(self.parameter_names(operation)).zip(0u32..);
        for ((parameter, name), index) in all {
            let is_lent_result = plan.lent_result == Some(Root::Parameter(index));
            let is_lent = parameter.is_opaque
                && (parameter.direction == Direction::In || is_lent_result)
                && parameter.direction != Direction::Out;
            if is_lent {
                text += &format!(", const nearcall_opaque *{name}");
            }
            if is_lent_result {
                let name = if is_lent { format!("{name}_out") } else { name };
                text += &format!(", nearcall_served *{name}");
            } else if !is_lent {
                text += ", ";
                text += &self.parameter(parameter, &name);
            }
        }
        if let Some(made) = self.made_type(procedure) {
            return (made, text + ", nearcall_environment *nc_env");
        }
        if let Some(ends) = self.exchange_parameters(procedure) {
            return (String::from("void"), text + &ends + ", nearcall_environment *nc_env");
        }
        let is_returned_lent = plan.lent_result == Some(Root::Returned);
        if is_returned_lent {
            text += ", nearcall_served *nc_room";
        }
        text += ", nearcall_environment *nc_env";
        let returns =
            if is_returned_lent { String::from("void") } else { self.returned_type(operation) };
        (returns, text)
    }

    /// A parameter of a procedure, and of a call stub unless its caller has memory for it.
    pub fn parameter(&self, parameter: &Parameter, name: &str) -> String {
        let Parameter { declared, direction, .. } = parameter;
        match direction {
            Direction::In if parameter.descriptor.is_some() => format!("int {name}"),
            _ if parameter.descriptor.is_some() => format!("int *{name}"),
            Direction::In => self.in_parameter(declared, name),
            _ if self.is_text(declared) => format!("char **{name}"),
            _ => format!("{} *{name}", self.type_name(declared)),
        }
    }

    /// A parameter that is only read.
    pub fn in_parameter(&self, declared: &Type, name: &str) -> String {
        match shape(self.model, declared) {
            Shape::Scalar(_) => self.declarator(declared, name),
            _ if self.is_text(declared) => format!("const char *{name}"),
            _ => format!("const {} *{name}", self.type_name(declared)),
        }
    }

    /// The head of an entry stub.
    pub fn entry_signature(&self, procedure: Procedure<'_>) -> String {
        let own = self.names.declaration(procedure.interface);
        let function = self.names.function(procedure.interface, procedure.plan.index);
        format!(
            "void nearcall_entry_{function}(const nearcall_server_{own} *nc_server, \
             nearcall_served *nc_call)"
        )
    }

    /// The descriptor that import and export compare.
    pub fn print_descriptor(&self, plan: &InterfacePlan, text: &mut Text) {
        let (name, declaration) =
            (self.names.declaration(plan.id), self.model.declaration(plan.id));
        if !plan.procedures.is_empty() {
            text.open(format!("static const nearcall_procedure nearcall_procedures_{name}[] = {{"));
            for procedure in self.procedures(plan) {
                let Procedure { operation, plan, .. } = procedure;
                let own = quoted(&operation.name);
                let (oneway, idempotent) = (operation.is_oneway, operation.is_idempotent);
                let leaf = operation.is_leaf;
                let hash = hash(&plan.hash);
                text.line(format!(
                    "{{{own}, {{{hash}}}, {}, {oneway}, {idempotent}, {leaf}}},",
                    plan.class
                ));
            }
            text.close("};");
        }
        text.open(format!("static const nearcall_class nearcall_classes_{name}[] = {{"));
        for class in &plan.classes {
            text.line(format!("{{{}, {}}},", class.block_bytes, class.count));
        }
        text.close("};");
        self.print_appendables(plan, text);
        text.open(format!("const nearcall_interface nearcall_interface_{name} = {{"));
        text.line(format!("{},", quoted(&declaration.name.to_string())));
        text.line(format!("{{{}}},", hash(&plan.hash)));
        match plan.procedures.is_empty() {
            true => text.line("NULL,"),
            false => text.line(format!("nearcall_procedures_{name},")),
        }
        text.line(format!("nearcall_classes_{name},"));
        match plan.appendables.is_empty() {
            true => text.line("NULL,"),
            false => text.line(format!("nearcall_appendables_{name},")),
        }
        text.line(format!("{},", plan.procedures.len()));
        text.line(format!("{},", plan.classes.len()));
        text.line(format!("{},", plan.appendables.len()));
        text.line(format!("{},", self.stub_bytes_max(plan)));
        text.line(format!("{},", !self.exchanges(plan).is_empty()));
        text.close("};");
        text.line("");
    }

    fn print_appendables(&self, plan: &InterfacePlan, text: &mut Text) {
        if plan.appendables.is_empty() {
            return;
        }
        let name = self.names.declaration(plan.id);
        for (appendable, index) in plan.appendables.iter().zip(0u32..) {
            let own = format!("nearcall_hashes_{name}_{index}");
            text.open(format!("static const uint8_t {own}[][16] = {{"));
            for each in &appendable.hashes {
                text.line(format!("{{{}}},", hash(each)));
            }
            text.close("};");
        }
        text.open(format!("static const nearcall_appendable nearcall_appendables_{name}[] = {{"));
        for (appendable, index) in plan.appendables.iter().zip(0u32..) {
            let own = quoted(&self.model.declaration(appendable.id).name.to_string());
            let (count, procedure) = (appendable.hashes.len(), appendable.procedure);
            text.line(format!("{{{own}, nearcall_hashes_{name}_{index}, {count}, {procedure}}},"));
        }
        text.close("};");
    }

    /// What a loop, and somebody's copy of it, depends on: the entry stubs in their order, which
    /// all have one signature, the functions that a server must have, and whether calls are set
    /// aside.
    pub fn operations(&self, plan: &InterfacePlan) -> String {
        let all = self.procedures(plan).into_iter().zip(self.member_functions(plan));
        let lines = all.map(|(procedure, own)| {
            let function = self.names.function(plan.id, procedure.plan.index);
            let own = if procedure.operation.carries_feed() { "" } else { own.as_str() };
            format!("{function} {own}\n")
        });
        let set_aside = if self.has_async_server(plan) { "set aside\n" } else { "" };
        format!("{LOOP}{}{set_aside}", lines.collect::<String>())
    }

    /// The loops of a server, and of one that sets calls aside.
    pub fn loops(&self, plan: &InterfacePlan) -> String {
        let mut text = Text::default();
        text.line(
            "/* Every call comes through here, on the thread that serves it: the place to count,",
        );
        text.line(" * to time, or to balance. An entry stub unpacks, runs, and replies once. */");
        self.print_loop(plan, "", &mut text);
        if self.has_async_server(plan) {
            text.line("");
            text.line("/* The same where procedures set their calls aside: a reply comes when it");
            text.line(" * likes, through none of this. */");
            self.print_loop(plan, "async_", &mut text);
        }
        text.finish()
    }

    fn print_loop(&self, plan: &InterfacePlan, kind: &str, text: &mut Text) {
        let name = self.names.declaration(plan.id);
        let server = format!("const nearcall_{kind}server_{name} *");
        text.line(format!(
            "static void nearcall_{kind}loop_{name}(void *server, uint32_t procedure,"
        ));
        text.open("    nearcall_served *call) {");
        if plan.procedures.is_empty() {
            text.lines(["(void)server;", "(void)procedure;", "(void)call;"].map(String::from));
        } else {
            text.line(format!("typedef void (*entry)({server}server, nearcall_served *call);"));
            text.open("static const entry entries[] = {");
            for procedure in self.procedures(plan) {
                let function = self.names.function(plan.id, procedure.plan.index);
                text.line(format!("nearcall_{kind}entry_{function},"));
            }
            text.close("};");
            text.line("/* The runtime calls no procedure that the interface does not have. */");
            text.line(format!("entries[procedure](({server})server, call);"));
        }
        text.close("}");
        text.line("");
        let export = if kind.is_empty() { "nearcall_export" } else { "nearcall_async_export" };
        text.line(format!(
            "nearcall_clerk *nearcall_export_with_{kind}{name}(const nearcall_domain *domain,"
        ));
        text.line(format!("    const char *name, {server}server,"));
        text.open("    const nearcall_export_options *options, nearcall_environment *env) {");
        text.line("nearcall_begin(env);");
        self.print_lacking(plan, text);
        text.line(format!("return {export}(domain, name, &nearcall_interface_{name},"));
        text.line(format!("    nearcall_{kind}loop_{name}, server, options, env);"));
        text.close("}");
    }

    /// A server without a function is refused where its author sees it, and not at the first call.
    fn print_lacking(&self, plan: &InterfacePlan, text: &mut Text) {
        let name = self.names.declaration(plan.id);
        let all = self.procedures(plan).into_iter().zip(self.member_functions(plan));
        for (_, own) in all.filter(|(one, _)| !one.operation.carries_feed()) {
            text.open(format!("if (server->{own} == NULL) {{"));
            let operation = quoted(&own);
            text.line(format!(
                "return nearcall_refuse_server(&nearcall_interface_{name}, {operation}, env);"
            ));
            text.close("}");
        }
    }
}

/// A client as the runtime knows it, in functions of a header, which C++ includes.
const PLAIN: &str = "NEARCALL_POINTER(const nearcall_client *, client)";

fn hash(hash: &[u8; 16]) -> String {
    hash.map(|byte| format!("0x{byte:02x}")).join(", ")
}

/// Whether clients may lend memory to its servers: an argument is read where it lies.
pub fn is_lent_to(plan: &InterfacePlan) -> bool {
    let all = plan.procedures.iter().flat_map(|procedure| &procedure.arguments);
    all.into_iter().any(|argument| argument.passing == Passing::Lent)
}

fn print_lend(name: &str, text: &mut Text) {
    text.line(
        "/* Memory, all 0, that the server reads in place where an `@opaque in` argument begins",
    );
    text.line(" * there; for nearcall_lent_release; null after an error. */");
    text.line(format!("NEARCALL_INLINE void *nearcall_lend_to_{name}(const {name} *client,"));
    text.open("    size_t bytes, nearcall_environment *env) {");
    text.line("nearcall_begin(env);");
    text.line(format!("return nearcall_lend({PLAIN}, bytes, env);"));
    text.close("}");
    text.line("");
}
