//! The steps of both stubs that send descriptors, and that take those that came.

use crate::back::c::stub::{Printer, Side};
use crate::back::c::types::quoted;
use crate::layout::{Place, Root};
use crate::plan::Passed;

impl Printer<'_, '_> {
    /// Stores whether one is there.
    pub fn put_presence(&mut self, root: Root, at: u32) {
        let (target, value) = (self.target(), self.root(root));
        self.text.line(format!("nearcall_put_u8({target}, {at}, {value} >= 0);"));
    }

    pub fn put_descriptors(&mut self, descriptors: &[Passed]) {
        self.sent_count = descriptors.len();
        self.name_descriptors("nc_sent", descriptors, |printer, passed| {
            (String::from("0"), printer.root(passed.root))
        });
    }

    /// Says which descriptors go, or have to come: whether each is there, and its number.
    fn name_descriptors(
        &mut self,
        records: &str,
        descriptors: &[Passed],
        said: impl Fn(&Self, &Passed) -> (String, String),
    ) {
        for (passed, at) in descriptors.iter().zip(0..) {
            let (name, kind) = (quoted(&self.spoken(&Place::whole(passed.root))), passed.kind);
            let ((is_there, value), kind) = (said(self, passed), kind.word());
            let is_optional = passed.presence_at.is_some();
            self.text.line(format!(
                "{records}[{at}] = (nearcall_descriptor){{{name}, NEARCALL_DESCRIPTOR_{kind}, \
                 {is_optional}, {is_there}, {value}}};"
            ));
        }
    }

    pub fn take_descriptors(&mut self, descriptors: &[Passed]) {
        let count = descriptors.len();
        self.came_count = count;
        self.name_descriptors("nc_came", descriptors, |printer, passed| {
            let claimed = passed.presence_at;
            let claimed = claimed.map(|at| format!("nearcall_get_u8({}, {at})", printer.source()));
            (claimed.unwrap_or(String::from("0")), String::from("-1"))
        });
        let take = match self.side {
            Side::Client => {
                format!("!nearcall_reply_descriptors(&nc_reply, nc_came, {count}, nc_env)")
            }
            Side::Server => format!("!nearcall_arguments_descriptors(nc_call, nc_came, {count})"),
        };
        self.when(&take, vec![String::from("goto nc_done;")]);
        for (passed, at) in descriptors.iter().zip(0..) {
            let value = self.root(passed.root);
            self.text.line(format!("{value} = nc_came[{at}].fd;"));
        }
    }
}
