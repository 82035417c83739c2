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
        let (own, word, give, take) = match time {
            Time::Timestamp => {
                ("::nearcall::system_time", "time_point", "timestamp_of", "time_of_timestamp")
            }
            Time::Duration => {
                ("::std::chrono::nanoseconds", "nanoseconds", "duration_of", "length_of_duration")
            }
        };
        let detail = "::nearcall::detail";
        text.line("/* Throws a call_error of reason::out_of_range. */");
        text.open(format!("{own} to_{word}() const {{"));
        text.line(format!("return {detail}::{take}(seconds, nanos);"));
        text.close("}");
        text.open(format!("static {name} from_{word}({own} time) noexcept {{"));
        text.line(format!("return {detail}::{give}<{name}>(time);"));
        text.close("}");
    }
}
