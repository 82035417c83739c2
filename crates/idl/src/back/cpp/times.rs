//! What makes a time of the standard library of one of Protocol Buffers, and the other way round.
//! Which values are none is said by `nearcall_time.hpp`, which is included where there is such a
//! time.

use crate::back::c::text::Text;
use crate::back::cpp::Cpp;
use crate::model::DeclarationId;
use crate::plan::Time;

impl Cpp<'_, '_> {
    /// Members of a struct that is one of them, `name`.
    pub fn print_times(&self, id: DeclarationId, name: &str, text: &mut Text) {
        let Some(time) = self.c.time(id) else { return };
        let detail = "::nearcall::detail";
        text.line("/* These throw a call_error of reason::out_of_range. */");
        match time {
            Time::Timestamp => {
                text.open("::nearcall::system_time to_time_point() const {");
                text.line(format!("return {detail}::time_of_timestamp(seconds, nanos);"));
                text.close("}");
                text.line("template <class D>");
                text.line(format!("static {name} from_time_point("));
                text.open("    ::std::chrono::time_point<::std::chrono::system_clock, D> time) {");
                let since = "time.time_since_epoch()";
                text.line(format!("return {detail}::timestamp_of<{name}>({since});"));
                text.close("}");
            }
            Time::Duration => {
                text.open("::std::chrono::nanoseconds to_nanoseconds() const {");
                text.line(format!("return {detail}::length_of_duration(seconds, nanos);"));
                text.close("}");
                text.line("template <class R, class P>");
                let length = "::std::chrono::duration<R, P> length";
                text.open(format!("static {name} from_duration({length}) {{"));
                text.line(format!("return {detail}::duration_of<{name}>(length);"));
                text.close("}");
            }
        }
    }
}
