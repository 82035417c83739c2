//! Items of feeds that go out (design note 0020). One that its type refuses is refused where it is
//! put: who puts it is told of it, and nothing else of its batch is lost. So what is judged is
//! judged there, once, and what has to be marshalled after that is written at once.

use nearcall_abi::ProcedureName;

use crate::back::c::C;
use crate::back::c::checks::Beyond;
use crate::back::c::feeds::FeedOf;
use crate::back::c::halves::is_ahead;
use crate::back::c::interface::Procedure;
use crate::back::c::stub::{Printer, Side};
use crate::back::c::text::Text;
use crate::back::c::types::quoted;
use crate::layout::{Form, Place, Root, Shape, shape};
use crate::model::{DeclarationId, FeedPart, Kind, Type, UnionDefault};
use crate::plan::{self, LimitCheck};

/// What an item is called in messages to people.
const SPOKEN: &str = "item";

/// What becomes of an item that is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// It is kept: nothing about it can be wrong.
    AsItIs,
    /// It is looked at, and kept.
    Judged,
    /// It is written, as its batch will have it.
    Written,
}

impl C<'_> {
    /// What becomes of the items of a feed. A client's are written to one place; a server's have
    /// memory of their own each, until somebody asks for them, which a word is not worth.
    pub fn keeping(&self, feed: &FeedOf<'_>) -> Keeping {
        let batch = shape(self.model, self.batch_type(feed));
        let is_marshalled = matches!(batch, Shape::Payload { form: Form::Marshalled, .. });
        let is_written = is_marshalled && (feed.end.is_some() || self.scalar(feed.item).is_none());
        let is_limited = !item_checks(feed).is_empty();
        match is_limited || self.may_be_refused(feed.item, &mut Vec::new()) {
            false => Keeping::AsItIs,
            true if is_written => Keeping::Written,
            true => Keeping::Judged,
        }
    }

    /// Whether values of a type may be none: C can hold what the interface has not.
    fn may_be_refused(&self, declared: &Type, within: &mut Vec<DeclarationId>) -> bool {
        if let Some(scalar) = self.scalar(declared) {
            return self.is_own_value(scalar, "").is_some();
        }
        match self.resolved(declared) {
            Type::Primitive(_) => false,
            Type::String { .. } | Type::WideString { .. } => true,
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.may_be_refused(element, within)
            }
            Type::Map { key, value, .. } => {
                self.may_be_refused(key, within) || self.may_be_refused(value, within)
            }
            // What holds itself may be nested too deep.
            Type::Named(id) if within.contains(id) => true,
            Type::Named(id) => {
                within.push(*id);
                let plans = &self.type_plan(*id).members;
                let is_refused = plans.iter().any(|plan| plan.is_boxed || !plan.checks.is_empty())
                    || self.has_unlabelled(*id, within)
                    || self
                        .all_members(*id)
                        .iter()
                        .any(|member| self.may_be_refused(&member.declared, within));
                within.pop();
                is_refused
            }
        }
    }

    /// Whether the discriminator of a union may have a value that selects nothing.
    fn has_unlabelled(&self, id: DeclarationId, within: &mut Vec<DeclarationId>) -> bool {
        let Kind::Union(union) = &self.model.declaration(id).kind else { return false };
        matches!(union.default, UnionDefault::Covered)
            || self.may_be_refused(&union.discriminator, within)
    }

    /// The function that judges an item, and writes it behind others: where it was put, or made.
    pub fn print_item_writer(&self, feed: &FeedOf<'_>, text: &mut Text) {
        text.line("/* Judges an item, and writes it as its batch has it. */");
        let (function, item) = (self.item_writer(feed), self.in_parameter(feed.item, "value"));
        text.open(format!("static void {function}(nearcall_writer *writer, {item}) {{"));
        text.open("if (nearcall_write_deeper(writer, 1)) {");
        let value = if self.is_by_value(feed) { "value" } else { "(*value)" };
        let leave = |beyond: &Beyond| {
            vec![format!("nearcall_write_breach(writer, {});", beyond.breach(SPOKEN))]
        };
        self.print_checks(&item_checks(feed), feed.item, value, &leave, text);
        text.lines(self.encode(feed.item, value, SPOKEN));
        text.line("writer->depth -= 1;");
        text.close("}");
        text.close("}");
        text.line("");
    }

    fn is_by_value(&self, feed: &FeedOf<'_>) -> bool {
        self.scalar(feed.item).is_some() || self.is_text(feed.item)
    }

    /// Has that function write an item, which is nobody's any more.
    pub fn print_written(&self, feed: &FeedOf<'_>, writer: &str, item: &str, text: &mut Text) {
        let reference = if self.is_by_value(feed) { "" } else { "&" };
        text.line(format!("{}({writer}, {reference}{item});", self.item_writer(feed)));
        text.lines(self.free(feed.item, item));
    }

    /// The items of a batch that a server has made, as what its procedure returns, unless they are
    /// written. `batch` is what stands before the members.
    pub fn batch_returned(&self, feed: &FeedOf<'_>, batch: &str) -> Vec<String> {
        if self.keeping(feed) == Keeping::Written {
            return Vec::new();
        }
        let item = self.declarator(feed.item, "*");
        vec![
            format!("nc_returned._buffer = ({item}){batch}items;"),
            format!("nc_returned._length = {batch}count;"),
        ]
    }

    /// Its name: an exchange has one each way.
    pub fn item_writer(&self, feed: &FeedOf<'_>) -> String {
        let way = if feed.end.is_some() { "put" } else { "given" };
        format!("nearcall_write_{way}_{}", self.feed_name(feed))
    }

    /// Looks at an item that is kept. `refuse` is what refuses a breach, and evaluates to false.
    pub fn print_judged(
        &self,
        feed: &FeedOf<'_>,
        value: &str,
        refuse: &dyn Fn(&str) -> String,
        text: &mut Text,
    ) {
        if self.keeping(feed) != Keeping::Judged {
            return;
        }
        let leave = |breach: String| vec![format!("return {};", refuse(&breach))];
        if let Some(scalar) = self.scalar(feed.item)
            && let Some(condition) = self.is_own_value(scalar, value)
        {
            text.open(format!("if (!({condition})) {{"));
            text.lines(leave(self.not_of_type(scalar, feed.item, value).breach(SPOKEN)));
            text.close("}");
        }
        let leave = |beyond: &Beyond| leave(beyond.breach(SPOKEN));
        self.print_checks(&item_checks(feed), feed.item, value, &leave, text);
    }

    /// Has a server's procedure make the next item of its feed, and judges it.
    pub fn print_made_item(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let next = |item: &str| format!("nc_items->next(nc_items->self, {item}, nc_env)");
        let (pointer, new) = (self.declarator(feed.item, "*"), "nc_new");
        let interface = self.model.declaration(feed.open.interface).name.to_string();
        let carrier = ProcedureName::new(&feed.carrier.operation.name);
        let told = quoted(&carrier.within(&interface).to_string());
        match self.keeping(feed) {
            Keeping::AsItIs => {
                text.line(format!("return {};", next(&format!("({pointer})nc_item"))));
            }
            Keeping::Judged => {
                text.line(format!(
                    "{} = ({pointer})nc_item;",
                    self.declarator(feed.item, "*nc_new")
                ));
                text.open(format!(
                    "if (!{} || nc_env->outcome != NEARCALL_RETURNED) {{",
                    next(new)
                ));
                text.line("return false;");
                text.close("}");
                let refuse =
                    |breach: &str| format!("nearcall_refuse_item(nc_env, {told}, {breach})");
                self.print_judged(feed, "(*nc_new)", &refuse, text);
                text.line("return true;");
            }
            Keeping::Written => {
                text.line("nearcall_writer nc_writer = {0};");
                text.line("bool nc_is_item;");
                text.line(format!("{};", self.declarator(feed.item, new)));
                text.line("memset(&nc_new, 0, sizeof nc_new);");
                text.line(format!("nc_is_item = {};", next("&nc_new")));
                text.open("if (!nc_is_item || nc_env->outcome != NEARCALL_RETURNED) {");
                text.lines(self.free(feed.item, new));
                text.line("return false;");
                text.close("}");
                self.print_written(feed, "&nc_writer", new, text);
                text.line(format!(
                    "return nearcall_made_written(nc_item, &nc_writer, {told}, nc_env);"
                ));
            }
        }
    }

    /// What a batch is made of before it goes: the type of one of its parts, and the function that
    /// gives back what that holds.
    pub fn given_part(&self, feed: &FeedOf<'_>, free: &str, text: &mut Text) -> (String, String) {
        match self.keeping(feed) {
            Keeping::Written => {
                (String::from("nearcall_written"), String::from("nearcall_free_written"))
            }
            _ => (self.type_name(feed.item), self.print_free_of(feed.item, free, text)),
        }
    }

    /// The batch of a procedure whose items are written before this side of it is entered.
    pub fn written_batch(&self, procedure: Procedure<'_>, side: Side) -> Option<Root> {
        let operation = procedure.operation;
        let root = match (operation.feed.as_ref()?.part, side) {
            (FeedPart::Put, Side::Client) => Root::Parameter(operation.parameters.len() as u32 - 1),
            (FeedPart::Next, Side::Server) => Root::Returned,
            _ => return None,
        };
        let feed = self.feed_here(procedure)?;
        (self.keeping(&feed) == Keeping::Written).then_some(root)
    }
}

impl Printer<'_, '_> {
    /// The checks of a place that are this stub's: what is inside of a batch was judged when its
    /// items were put.
    pub fn own_checks(&self, place: &Place, checks: &[LimitCheck]) -> Vec<LimitCheck> {
        let is_batch = is_ahead(self.procedure.operation) && !matches!(place.root, Root::Member(_));
        let all = checks.iter().filter(|check| !is_batch || check.hops.is_empty());
        all.cloned().collect()
    }

    /// The writer of a batch whose items are written: a client's is its caller's, a server's
    /// collects them.
    pub fn batch_writer(&mut self, place: &Place) -> String {
        if self.side == Side::Client {
            return self.value(place);
        }
        let writer = self.new_writer();
        let is_later = self.procedure.operation.waits_for_exchange();
        let batch = if is_later { "nc_batch" } else { "&nc_batch" };
        self.text.line(format!("nearcall_write_batch(&{writer}, {batch});"));
        self.print_unwritten(&writer, SPOKEN);
        writer
    }
}

/// What is judged of each item, as the plan has it of a batch.
fn item_checks(feed: &FeedOf<'_>) -> Vec<LimitCheck> {
    let plan = feed.carrier.plan;
    let steps = if feed.end.is_some() { &plan.client.request } else { &plan.server.reply };
    plan::item_checks(steps)
}
