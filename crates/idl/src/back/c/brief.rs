//! Call stubs of brief calls: what `nearcall_brief.h` does is inlined into them, and the stub that
//! all other calls have is where they go if they cannot be.

use crate::back::c::C;
use crate::back::c::interface::Procedure;
use crate::back::c::stub::{Printer, Side};
use crate::back::c::text::Text;
use crate::layout::{Place, Root};
use crate::model::{Direction, Parameter};
use crate::plan::Brief;

/// Classes whose calls may be brief: `NEARCALL_BRIEF_CLASSES` of `nearcall_brief.h`.
const CLASSES: u8 = 4;

impl C<'_> {
    /// What is put and got, if there is a stub for it.
    pub fn brief(&self, procedure: Procedure<'_>) -> Option<Brief> {
        let Procedure { operation, plan, .. } = procedure;
        let has_stub_alone = operation.feed.is_none() && plan.class < CLASSES;
        if has_stub_alone { plan.brief() } else { None }
    }

    /// What the stub for everything else is called, of a procedure whose calls are brief.
    pub fn slow_name(&self, procedure: Procedure<'_>) -> String {
        format!("nearcall_slow_{}", self.stub_name(procedure))
    }

    /// The head of the stub for everything else: it is told how the claim ended.
    pub fn slow_signature(&self, procedure: Procedure<'_>) -> String {
        let returns = format!("NEARCALL_COLD {}", self.returned_type(procedure.operation));
        let head = self.call_signature(procedure, &returns, &self.slow_name(procedure));
        head.replacen(
            "nearcall_environment *nc_env)",
            "nearcall_environment *nc_env, uint32_t nc_claim)",
            1,
        )
    }

    /// The call stub, after the ones that it goes on to.
    pub fn print_brief_stub(&self, procedure: Procedure<'_>, brief: &Brief, text: &mut Text) {
        let Procedure { operation, plan, .. } = procedure;
        let mut stub =
            Stub { printer: Printer::new(self, procedure, Side::Client), procedure, brief };
        let names = stub.printer.names.iter().map(|name| format!(", {name}")).collect::<String>();
        stub.print_late(text);
        let returns = if operation.returns.is_some() { "return " } else { "" };
        let leave = |call: String, text: &mut Text| {
            text.line(format!("{returns}{call};"));
            if operation.returns.is_none() {
                text.line("return;");
            }
        };
        text.open(format!("{} {{", self.stub_signature(procedure)));
        stub.print_locals(text);
        text.line("nearcall_held nc_held;");
        let own: Vec<String> = stub.own_checks();
        let claim = format!("nearcall_brief_claim(nc_binding, {}, &nc_held)", plan.class);
        text.line(match own.is_empty() {
            true => format!("const uint32_t nc_claim = {claim};"),
            false => format!(
                "const uint32_t nc_claim = {} ? {claim} : NEARCALL_NOT_KEPT;",
                own.join(" && ")
            ),
        });
        text.open("if (nc_claim != NEARCALL_CLAIMED) {");
        leave(format!("{}(nc_client{names}, nc_env, nc_claim)", self.slow_name(procedure)), text);
        text.close("}");
        for (place, at, scalar) in &brief.arguments {
            text.line(self.put_brief_word(*scalar, *at, &stub.printer.value(place)));
        }
        text.open(format!(
            "if (!nearcall_brief_call(&nc_held, {}, {}, {}, nc_env)) {{",
            plan.index, brief.request_bytes, brief.reply_bytes
        ));
        leave(stub.late_call(), text);
        text.close("}");
        stub.printer.enter(None);
        stub.print_words(text);
        let judged = stub.judged();
        if !judged.is_empty() {
            let all: Vec<String> = judged.into_iter().map(|(condition, _)| condition).collect();
            text.open(format!("if (!({})) {{", all.join(" && ")));
            leave(stub.late_call(), text);
            text.close("}");
        }
        stub.print_end(text);
    }
}

/// One stub that is being printed.
struct Stub<'c, 'm> {
    printer: Printer<'c, 'm>,
    procedure: Procedure<'c>,
    brief: &'c Brief,
}

impl Stub<'_, '_> {
    fn print_locals(&self, text: &mut Text) {
        text.line("const nearcall_client *nc_binding = (const nearcall_client *)nc_client;");
        text.lines(self.printer.local_root(Root::Returned, "nc_returned"));
    }

    /// Parameters that results go to.
    fn outs(&self) -> Vec<(&Parameter, &str)> {
        let all = self.procedure.operation.parameters.iter().zip(&self.printer.names);
        let outs = all.filter(|(parameter, _)| parameter.direction != Direction::In);
        outs.map(|(parameter, name)| (parameter, name.as_str())).collect()
    }

    fn late_name(&self) -> String {
        format!("nearcall_late_{}", self.printer.c.stub_name(self.procedure))
    }

    fn late_call(&self) -> String {
        let outs = self.outs().iter().map(|(_, name)| format!(", {name}")).collect::<String>();
        format!("{}(nc_client{outs}, nc_env, nc_held.seen)", self.late_name())
    }

    /// The stub that waits, and ends the call.
    fn print_late(&mut self, text: &mut Text) {
        let Procedure { interface, operation, plan } = self.procedure;
        let c = self.printer.c;
        let (own, returns) = (c.names.declaration(interface), c.returned_type(operation));
        let outs = self.outs();
        let outs =
            outs.iter().map(|(parameter, name)| format!(", {}", c.parameter(parameter, name)));
        let outs = outs.collect::<String>();
        let name = self.late_name();
        text.line(format!("NEARCALL_COLD {returns} {name}(const {own} *nc_client{outs},"));
        text.open("    nearcall_environment *nc_env, uint32_t nc_seen) {");
        self.print_locals(text);
        let class = plan.class;
        text.line(format!(
            "const nearcall_held nc_held = nearcall_brief_held(nc_binding, {class});"
        ));
        let wait =
            format!("nearcall_slow_wait(nc_binding, {class}, {}, nc_seen, nc_env)", plan.index);
        text.open(format!("if (!{wait}) {{"));
        self.print_failed(text);
        text.close("}");
        self.printer.enter(None);
        self.print_words(text);
        for (condition, word) in self.judged() {
            text.open(format!("if (!({condition})) {{"));
            text.line(format!("nearcall_slow_malformed(nc_binding, {class}, {},", plan.index));
            text.line(format!(
                "    nearcall_bad(NEARCALL_MALFORMED_RANGE, (uint64_t){word}, 0), nc_env);"
            ));
            self.print_failed(text);
            text.close("}");
        }
        self.print_end(text);
        self.printer.is_reply = false;
    }

    /// After an error there is nothing in what comes out.
    fn print_failed(&self, text: &mut Text) {
        let parameters = self.procedure.operation.parameters.iter();
        for ((parameter, name), index) in parameters.zip(&self.printer.names).zip(0..) {
            if parameter.direction == Direction::Out {
                let root = Root::Parameter(index);
                text.line(self.printer.cleared(root, (name, &format!("*{name}"))));
            }
        }
        self.print_return(text);
    }

    fn print_return(&self, text: &mut Text) {
        match self.procedure.operation.returns.is_some() {
            true => text.line("return nc_returned;"),
            false => text.line("return;"),
        }
    }

    /// All words are got before one of them is where it belongs.
    fn print_words(&self, text: &mut Text) {
        for ((_, at, scalar), number) in self.brief.results.iter().zip(0..) {
            let (c, scalar) = (self.printer.c, *scalar);
            let got = c.got_brief_word(scalar, *at);
            text.line(format!("const {} nc_word{number} = {got};", c.raw_type(scalar)));
        }
    }

    /// What a word must be to be a value, and the word.
    fn judged(&self) -> Vec<(String, String)> {
        let words = self.brief.results.iter().zip(0..);
        let judged = words.filter_map(|((_, _, scalar), number)| {
            let word = format!("nc_word{number}");
            self.printer.c.is_value(*scalar, &word).map(|condition| (condition, word))
        });
        judged.collect()
    }

    fn print_end(&self, text: &mut Text) {
        text.line(format!("nearcall_brief_release(&nc_held, {});", self.procedure.plan.class));
        for ((place, _, scalar), number) in self.brief.results.iter().zip(0..) {
            let word = self.printer.c.of_word(*scalar, &format!("nc_word{number}"));
            text.line(format!("{} = {word};", target(&self.printer, self.procedure, place)));
        }
        if self.procedure.operation.returns.is_some() {
            text.line("return nc_returned;");
        }
        text.close("}");
        text.line("");
    }

    /// Values of our own that C can hold and the interface has not: the other stub refuses them.
    fn own_checks(&self) -> Vec<String> {
        let c = self.printer.c;
        let value = |place| self.printer.value(place);
        let checks = self.brief.arguments.iter();
        checks.filter_map(|(place, _, scalar)| c.is_own_value(*scalar, &value(place))).collect()
    }
}

/// Where a result belongs: an inout one in the parameter itself, since everything was judged.
fn target(printer: &Printer<'_, '_>, procedure: Procedure<'_>, place: &Place) -> String {
    let value = printer.value(place);
    match place.root {
        Root::Parameter(index)
            if procedure.operation.parameters[index as usize].direction == Direction::Inout =>
        {
            let name = &printer.names[index as usize];
            value.replacen(&format!("nc_new_{name}"), &format!("(*{name})"), 1)
        }
        _ => value,
    }
}
