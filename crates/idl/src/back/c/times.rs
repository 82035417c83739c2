//! What makes a `struct timespec` of a time of Protocol Buffers, and the other way round. Which
//! values are none is said by `nearcall_time.h`, which is included where there is such a time.

use crate::back::c::C;
use crate::back::c::text::Text;
use crate::model::DeclarationId;
use crate::plan::Time;

impl C<'_> {
    /// The times of Protocol Buffers among the types.
    pub fn times(&self) -> impl Iterator<Item = (DeclarationId, Time)> {
        self.plan.types.iter().filter_map(|plan| plan.time.map(|time| (plan.id, time)))
    }

    /// Which of them a type is.
    pub fn time(&self, id: DeclarationId) -> Option<Time> {
        let index = self.plan.types.binary_search_by_key(&id, |plan| plan.id).ok()?;
        self.plan.types[index].time
    }

    /// What each of them is made by, and of.
    pub fn print_times(&self, text: &mut Text) {
        for (id, time) in self.times() {
            let name = self.names.declaration(id);
            let (full, own) = match time {
                Time::Timestamp => ("google.protobuf.Timestamp", "timestamp"),
                Time::Duration => ("google.protobuf.Duration", "duration"),
            };
            let guard = format!("NEARCALL_HAS_TIMES_OF_{name}");
            text.line(format!("#ifndef {guard}"));
            text.line(format!("#define {guard}"));
            text.line("/* What is none is NEARCALL_USAGE, and all zero. */");
            let (spec, env) = ("struct timespec", "nearcall_environment *env");
            let inline = "NEARCALL_INLINE";
            text.line(format!("{inline} {spec} nearcall_to_timespec_{name}("));
            text.open(format!("    const {name} *value, {env}) {{"));
            text.open("if (value == NEARCALL_NULL) {");
            text.line(format!("return nearcall_no_timespec(\"{full} is null\", env);"));
            text.close("}");
            text.line(format!(
                "return nearcall_timespec_of_{own}(value->seconds, value->nanos, env);"
            ));
            text.close("}");
            text.line(format!("{inline} {name} nearcall_from_timespec_{name}("));
            text.open(format!("    {spec} time, {env}) {{"));
            text.line(format!("{name} value = {{0, 0}};"));
            text.line(format!(
                "nearcall_{own}_of_timespec(time, &value.seconds, &value.nanos, env);"
            ));
            text.line("return value;");
            text.close("}");
            text.line("#endif");
            text.line("");
        }
    }
}
