//! What a server's procedure makes that opens a feed (design note 0020): a record of functions,
//! which libnearcall calls for the feed's items, or gives them to.

use crate::back::c::C;
use crate::back::c::feeds::FeedOf;
use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;

impl C<'_> {
    /// The record that a server's procedure returns, for the header.
    pub fn print_made(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let Some(made) = self.made_type(feed.open) else { return };
        let item = feed.item;
        text.lines(
            [
                "/* Its functions run one at a time, on any thread; none may be null but",
                " * `release`, which runs at last, whatever ended it, and waits for nothing.",
                " * Beside an exception that is raised it is not looked at. */",
            ]
            .map(String::from),
        );
        text.open(format!("typedef struct {made} {{"));
        text.line("void *self;");
        text.line("void (*release)(void *self);");
        match feed.end {
            None => {
                text.lines(
                    [
                        "/* The next item, of nearcall_allocate. False if there are none any more.",
                        " * If the interface forbids it, the feed is over behind those before it:",
                        " * its client is told NEARCALL_RESULTS_REFUSED. */",
                    ]
                    .map(String::from),
                );
                let item = self.declarator(item, "*item");
                text.line(format!("bool (*next)(void *self, {item}, nearcall_environment *env);"));
            }
            Some(end) => {
                text.line("/* The next item, which is lent; raises to end the feed. */");
                let item = self.in_parameter(item, "item");
                text.line(format!("void (*take)(void *self, {item}, nearcall_environment *env);"));
                text.line("/* There are no more. */");
                let returns = self.returned_type(end.operation);
                let star = if returns.ends_with('*') { "" } else { " " };
                text.line(format!("{returns}{star}(*end)(void *self, nearcall_environment *env);"));
            }
        }
        text.close(format!("}} {made};"));
        text.line("");
    }

    /// What a procedure returns that opens a feed.
    pub fn made_type(&self, procedure: Procedure<'_>) -> Option<String> {
        let is_open = !procedure.operation.carries_feed();
        let feed = self.feed_here(procedure).filter(|feed| is_open && !feed.is_exchange())?;
        let made = if feed.end.is_some() { "taker" } else { "items" };
        Some(format!("nearcall_{made}_{}", self.feed_name(&feed)))
    }

    /// Opens a feed of what the procedure made.
    pub fn opened(&self, procedure: Procedure<'_>) -> Vec<String> {
        let is_open = !procedure.operation.carries_feed();
        let Some(feed) = self.feed_here(procedure).filter(|_| is_open) else { return Vec::new() };
        if feed.is_exchange() {
            let names = self.parameter_names(procedure.operation);
            let sink = names.last().map_or("", String::as_str);
            return vec![
                format!("if (!nearcall_open_exchange(nc_call, &nc_returned, &{sink})) {{"),
                String::from("    goto nc_done;"),
                String::from("}"),
            ];
        }
        let kind = if feed.end.is_some() { "intake" } else { "source" };
        let name = self.feed_name(&feed);
        let mut lines = made_lacks(&feed);
        lines.extend([
            format!("if (!nearcall_open_{kind}(nc_call, &nearcall_{kind}_{name}, &nc_made,"),
            String::from("        sizeof nc_made, nc_made.self, nc_made.release, &nc_returned)) {"),
            String::from("    goto nc_done;"),
            String::from("}"),
        ]);
        lines
    }
}

impl FeedOf<'_> {
    /// The functions that the record of a server's procedure has to have.
    pub fn made_functions(&self) -> &'static [&'static str] {
        if self.end.is_some() { &["take", "end"] } else { &["next"] }
    }
}

/// A record without a function is told to who made it, and not called through.
fn made_lacks(feed: &FeedOf<'_>) -> Vec<String> {
    let functions = feed.made_functions().iter();
    let lacks = functions.flat_map(|function| {
        [
            format!("if (nc_made.{function} == NULL) {{"),
            format!(
                "    nearcall_refuse_made(nc_call, \"{function}\", nc_made.self, nc_made.release);"
            ),
            String::from("    goto nc_done;"),
            String::from("}"),
        ]
    });
    lacks.collect()
}
