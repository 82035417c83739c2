//! How a self-test calls and serves: the same values, by functions that block, that post, or that
//! are awaited (design notes 0007 and 0022).

use crate::back::rust::selftest::Programs;
use crate::back::rust::server::run_results;
use crate::back::rust::suspending::awaited_results;
use crate::layout::Root;
use crate::model::Operation;
use crate::plan::ProcedurePlan;
use crate::selftest::Manner;

impl Programs<'_, '_> {
    /// How an operation is called: nobody posts what has no reply, or what opens a feed.
    pub fn manner_of(&self, operation: &Operation) -> Manner {
        match self.test.manner {
            Manner::Posted if !operation.is_posted() => Manner::Blocking,
            manner => manner,
        }
    }

    /// The call of a function, as an expression; of what opens a feed, inside of a future.
    pub fn called(&self, operation: &Operation, function: &str, arguments: &str) -> String {
        match self.manner_of(operation) {
            Manner::Blocking => format!("client.{function}({arguments})"),
            // A reference, whose functions come before those that every value has: `into`.
            Manner::Posted => format!(
                "(&client.posting()).{function}({arguments})\
                 .map_err(Into::into).and_then(|posted| posted.collect())"
            ),
            Manner::Awaited if operation.feed.is_some() => {
                format!("client.awaiting().{function}({arguments}).await")
            }
            Manner::Awaited => format!("waited(client.awaiting().{function}({arguments}))"),
        }
    }

    /// What is done with what `call` opens, as a local for how that ends.
    pub fn opened(&self, call: &str, sides: &str, body: &str) -> String {
        match self.test.manner {
            Manner::Blocking | Manner::Posted => {
                format!("let called = {call}.and_then(|{sides}| {{ {body} }});\n")
            }
            Manner::Awaited => format!(
                "let called = waited(async {{\n\
                 let {sides} = match {call} {{ Ok(opened) => opened, Err(error) => \
                 return Err(error) }};\n{body}\n}});\n"
            ),
        }
    }

    /// How a feed whose items come is held.
    pub fn coming(&self) -> &'static str {
        if self.test.manner == Manner::Awaited { "mut feed" } else { "feed" }
    }

    /// Keeps every item that comes.
    pub fn all_come(&self, feed: &str) -> String {
        match self.test.manner {
            Manner::Blocking | Manner::Posted => {
                format!("for item in {feed} {{ items.push(item?); }}\n")
            }
            Manner::Awaited => {
                format!("while let Some(item) = {feed}.next().await {{ items.push(item?); }}\n")
            }
        }
    }

    /// Puts every item.
    pub fn all_go(&self, sink: &str, items: &str) -> String {
        let awaited = self.awaited();
        format!("for item in {items} {{ {sink}.put(item){awaited}?; }}\n")
    }

    /// Ends what takes items, as an expression.
    pub fn ended(&self, sink: &str) -> String {
        format!("{sink}.end(){}", self.awaited())
    }

    fn awaited(&self) -> &'static str {
        if self.test.manner == Manner::Awaited { ".await" } else { "" }
    }

    /// How a procedure is defined, and what it does first: one that is awaited waits, so that its
    /// arguments have to last.
    pub fn defined(&self) -> (&'static str, &'static str) {
        match self.test.manner {
            Manner::Awaited => ("async fn", "later().await;\n"),
            _ => ("fn", ""),
        }
    }

    /// What a procedure evaluates to: what is lent to those that are not awaited is in place.
    pub fn own_results(&self, plan: &ProcedurePlan) -> Vec<Root> {
        match self.test.manner {
            Manner::Awaited => awaited_results(plan),
            _ => run_results(plan),
        }
    }
}
