//! What generated code says of a value of ours that is beyond a limit.

use std::ffi::c_char;

use nearcall::{OutOfRange, OverBound, UsageError};

use super::literal;

/// What kind of value is beyond which kind of limit: `NEARCALL_BREACH_*`.
pub mod kind {
    pub const BOUND: u32 = 0;
    pub const TEXT: u32 = 1;
    pub const SIGNED: u32 = 2;
    pub const UNSIGNED: u32 = 3;
    pub const FLOAT: u32 = 4;
    pub const DOUBLE: u32 = 5;
    pub const CHARACTER: u32 = 6;
    pub const LEVELS: u32 = 7;
}

/// A limit of the interface that a value of ours is beyond. `nearcall_breach` in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BreachRecord {
    /// Of the parameter or member.
    pub name: *const c_char,
    /// What a number or character may be, in words.
    pub allowed: *const c_char,
    /// The count, the number's bits, or the byte at which it stops being text.
    pub value: u64,
    pub limit: u64,
    /// One of [`kind`].
    pub kind: u32,
}

/// An argument or result of ours is beyond a limit of the interface.
///
/// # Safety
///
/// - H4 static: what is refused, and what it may be.
pub unsafe fn breach(breach: BreachRecord) -> UsageError {
    let BreachRecord { kind, value, limit, name, allowed } = breach;
    // SAFETY: H4.
    let parameter = unsafe { literal(name) };
    // SAFETY: H4.
    let allowed = unsafe { literal(allowed) };
    let value = match kind {
        kind::BOUND => return UsageError::OverBound(OverBound { parameter, value, limit }),
        kind::TEXT => return UsageError::Text { parameter, at: value as usize },
        kind::SIGNED => value.cast_signed().to_string(),
        kind::LEVELS => format!("{value} levels deep"),
        kind::FLOAT => format!("{:?}", f32::from_bits(value as u32)),
        kind::DOUBLE => format!("{:?}", f64::from_bits(value)),
        kind::CHARACTER => match u32::try_from(value).ok().and_then(char::from_u32) {
            Some(character) => format!("{character:?}"),
            None => format!("{value:#x}"),
        },
        kind::UNSIGNED => value.to_string(),
        // No kind of this library's.
        _ => format!("{value:#x}"),
    };
    let allowed = allowed.to_owned();
    UsageError::OutOfRange(Box::new(OutOfRange { parameter, value, allowed }))
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn told(kind: u32, value: u64, allowed: &'static CStr) -> String {
        let (name, allowed) = (c"age".as_ptr(), allowed.as_ptr());
        // SAFETY: H4.
        unsafe { breach(BreachRecord { name, allowed, value, limit: 9, kind }) }.to_string()
    }

    #[test]
    fn a_value_is_told_as_its_type_shows_it_and_with_what_is_allowed() {
        let minus_five = (-5i64).cast_unsigned();
        assert_eq!(told(kind::BOUND, 10, c""), "age has 10 bytes or elements, its limit is 9");
        assert_eq!(told(kind::TEXT, 10, c""), "age is not UTF-8 at byte 10");
        assert_eq!(told(kind::SIGNED, minus_five, c"0 to 9"), "age is -5, allowed is 0 to 9");
        assert_eq!(
            told(kind::UNSIGNED, u64::MAX, c"1"),
            "age is 18446744073709551615, allowed is 1"
        );
        assert_eq!(told(kind::LEVELS, 65, c"0 to 64"), "age is 65 levels deep, allowed is 0 to 64");
        let tenth = f32::to_bits(0.1).into();
        assert_eq!(told(kind::FLOAT, tenth, c"0.5 or more"), "age is 0.1, allowed is 0.5 or more");
        let never = f64::NAN.to_bits();
        assert_eq!(told(kind::DOUBLE, never, c"0.5 or more"), "age is NaN, allowed is 0.5 or more");
        assert_eq!(
            told(kind::CHARACTER, 'g'.into(), c"'a' to 'f'"),
            "age is 'g', allowed is 'a' to 'f'"
        );
        assert_eq!(
            told(kind::CHARACTER, 0xd800, c"'a' to 'f'"),
            "age is 0xd800, allowed is 'a' to 'f'"
        );
    }
}
