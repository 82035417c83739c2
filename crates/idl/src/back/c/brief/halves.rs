//! The two halves of brief calls that are posted and collected later, on any A-stack that is kept
//! for the thread.
//!
//! ```text
//! post_x ──────▶ nearcall_slow_post_x      not kept for us, longer than the line, or no value
//! collect_x ───▶ nearcall_late_collect_x   no reply at the first look, or none of words alone
//! ```

use nearcall_abi::INLINE_BYTES;

use super::{Reach, Stub};
use crate::back::c::C;
use crate::back::c::interface::Procedure;
use crate::back::c::prealloc::returned_argument;
use crate::back::c::text::Text;
use crate::model::Direction;
use crate::plan::{Brief, BriefItem, BriefKind};

/// Longest part of a block behind the line that the stub copies by itself: `NEARCALL_MOVES_BYTES`
/// of `nearcall_brief.h`.
const MOVES_BYTES: u32 = 256;

impl C<'_> {
    /// What is put and got, if both halves do it by themselves. What libnearcall copies for a stub
    /// goes to the first A-stack of a class, and here it is any. One that may run twice has its
    /// arguments kept, by libnearcall.
    pub fn brief_ahead(&self, procedure: Procedure<'_>) -> Option<Brief> {
        let brief = self.brief(procedure).filter(|_| !procedure.plan.is_posted_twice())?;
        let mut items = brief.arguments.iter().chain(brief.results.iter().flatten());
        let is_alone = items.all(is_moved) && brief.may_end_in_line();
        is_alone.then_some(brief)
    }

    /// Of the half that posts what is not brief.
    pub fn slow_post_name(&self, procedure: Procedure<'_>) -> String {
        self.apart_name(procedure, "slow_post")
    }

    /// Of the half that collects what is not.
    pub fn late_collect_name(&self, procedure: Procedure<'_>) -> String {
        self.apart_name(procedure, "late_collect")
    }

    /// The half that posts, after the one that it goes on to.
    pub fn print_brief_post(&self, procedure: Procedure<'_>, brief: &Brief, text: &mut Text) {
        text.open(format!("{} {{", self.post_signature(procedure, None)));
        Stub::new(self, (procedure, brief), Reach::Line).print_post(text);
    }

    /// The half that collects, after the one that it goes on to.
    pub fn print_brief_collect(
        &self,
        procedure: Procedure<'_>,
        (brief, results): (&Brief, &[BriefItem]),
        text: &mut Text,
    ) {
        text.open(format!("{} {{", self.collect_signature(procedure, None)));
        Stub::new(self, (procedure, brief), Reach::Line).print_collect(results, text);
    }
}

/// Whether the stub copies it by itself.
fn is_moved(item: &BriefItem) -> bool {
    match item.kind {
        BriefKind::Block(bytes) => {
            bytes.saturating_sub(INLINE_BYTES.saturating_sub(item.at)) <= MOVES_BYTES
        }
        BriefKind::Word(_) | BriefKind::Length => true,
    }
}

impl Stub<'_, '_> {
    fn print_post(&self, text: &mut Text) {
        let plan = self.procedure.plan;
        text.line("const nearcall_client *nc_binding = (const nearcall_client *)nc_client;");
        text.line("nearcall_held nc_held;");
        if let Some(payload) = &self.brief.payload {
            self.print_payload_bytes(payload, text);
        }
        let claim = format!("nearcall_brief_claim_any(nc_binding, {}, &nc_held)", plan.class);
        self.print_claim(&claim, true, text);
        let slow = self.printer.c.slow_post_name(self.procedure);
        let given = self.names_of(Direction::In);
        text.line(format!("return {slow}(nc_client{given}, nc_posted, nc_env, nc_claim);"));
        text.close("}");
        self.brief.arguments.iter().for_each(|item| self.put(item, text));
        if let Some(payload) = &self.brief.payload {
            self.put_payload(payload, text);
        }
        let (index, bytes) = (plan.index, self.message_bytes());
        text.line(format!(
            "return nearcall_brief_post(&nc_held, {index}, {bytes}, &nc_posted->call, nc_env);"
        ));
        text.close("}");
        text.line("");
    }

    fn print_collect(mut self, results: &[BriefItem], text: &mut Text) {
        let (class, reply_bytes) = (self.procedure.plan.class, self.brief.reply_bytes);
        text.line("nearcall_held nc_held;");
        let look = format!("&nc_posted->call, {class}, {reply_bytes}, &nc_held");
        text.open(format!("if (!nearcall_brief_look({look})) {{"));
        let late = self.late_collection();
        self.leave(late.clone(), text);
        text.close("}");
        self.printer.enter(None);
        self.print_results(results, &late, text, |returned| {
            format!("nearcall_brief_end(&nc_held, &nc_posted->call, nc_env, {returned})")
        });
        text.close("}");
        text.line("");
    }

    fn late_collection(&self) -> String {
        let late = self.printer.c.late_collect_name(self.procedure);
        let returned = returned_argument(self.procedure.operation);
        let returned = returned.map(|name| format!(", {name}")).unwrap_or_default();
        format!("{late}(nc_posted{}{returned}, nc_env)", self.names_of(Direction::Out))
    }

    /// The parameters that one half has, each as one that follows another.
    fn names_of(&self, direction: Direction) -> String {
        let all = self.procedure.operation.parameters.iter().zip(&self.printer.names);
        let own = all.filter(|(parameter, _)| parameter.direction == direction);
        own.map(|(_, name)| format!(", {name}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_copies_as_much_by_moves() {
        let headers = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/include");
        let header = std::fs::read_to_string(headers.join("nearcall_brief.h")).unwrap();
        let line = format!("#define NEARCALL_MOVES_BYTES {MOVES_BYTES}u");
        assert!(header.lines().any(|one| one == line), "no `{line}` in nearcall_brief.h");
    }
}
