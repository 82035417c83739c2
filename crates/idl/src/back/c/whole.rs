//! Where the fixed part of a message lies in a stub. One that is an array of elements, and nothing
//! else, is copied by libnearcall from where the value lies, and to where it belongs. A stub that
//! gathers its message first copies each byte once more on its way out, and once or twice more on
//! its way in.

use crate::back::c::client::{fixed_bytes, reply_bytes};
use crate::back::c::stub::{Printer, Side};
use crate::layout::{Place, Root};
use crate::plan::Step;

impl Printer<'_, '_> {
    /// Where what is written is gathered.
    pub fn target(&self) -> &'static str {
        if self.side == Side::Client { "nc_fixed" } else { "nc_results" }
    }

    /// Where what is read is copied to, to be taken apart.
    pub fn source(&self) -> &'static str {
        if self.side == Side::Client { "nc_results" } else { "nc_fixed" }
    }

    /// The parameter that is all of what this side writes.
    fn whole_put(&self) -> Option<u32> {
        let plan = self.procedure.plan;
        let steps = match self.side {
            Side::Client => &plan.client.request,
            Side::Server if plan.server.raised.is_empty() => &plan.server.reply,
            Side::Server => return None,
        };
        let mut puts = steps.iter().filter(|step| step.is_write());
        match (puts.next(), puts.next()) {
            (Some(Step::PutBlock { place, at: 0, bytes }), None)
                if *bytes == fixed_bytes(steps) =>
            {
                parameter(place)
            }
            _ => None,
        }
    }

    /// The parameter that is all of what this side reads. None of a client's that may make its call
    /// twice: it may be what is sent as well.
    pub fn whole_got(&self) -> Option<u32> {
        let plan = self.procedure.plan;
        let (steps, all_bytes) = match self.side {
            Side::Server => (&plan.server.request, fixed_bytes(&plan.client.request)),
            Side::Client if !plan.is_retried && plan.client.raised.is_empty() => {
                (&plan.client.reply, reply_bytes(plan))
            }
            Side::Client => return None,
        };
        let reads_nothing =
            |step: &Step| matches!(step, Step::Run | Step::Store { .. } | Step::Return { .. });
        match &steps[..] {
            [Step::GetBlock { place, at: 0, bytes }, rest @ ..]
                if *bytes == all_bytes && rest.iter().all(reads_nothing) =>
            {
                parameter(place)
            }
            _ => None,
        }
    }

    /// What is written is gathered before it is sent.
    pub fn gathers(&self) -> bool {
        self.whole_put().is_none()
    }

    /// Where what is written lies.
    pub fn written(&self) -> String {
        match self.whole_put() {
            None => String::from(self.target()),
            Some(index) => {
                let value = self.value(&Place::whole(Root::Parameter(index)));
                format!("(const uint8_t *)&{value}")
            }
        }
    }

    /// Where what is read is copied to.
    pub fn read_into(&self) -> String {
        match self.whole_got() {
            None => String::from(self.source()),
            Some(index) => {
                let name = &self.names[index as usize];
                let reference = if self.side == Side::Server { "&" } else { "" };
                format!("(uint8_t *){reference}{name}")
            }
        }
    }
}

/// The parameter that is all of a place.
fn parameter(place: &Place) -> Option<u32> {
    match place.root {
        Root::Parameter(index) if *place == Place::whole(place.root) => Some(index),
        _ => None,
    }
}
