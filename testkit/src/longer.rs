//! What is to happen while a call takes long: how long is enough depends on what else the machine
//! does.

/// How often the time is doubled.
const DOUBLINGS: u32 = 6;

/// Whether that is so beside a call that takes so many milliseconds, or beside one that takes twice
/// as many, and so on.
pub fn is_so_beside(milliseconds: u32, is_so: impl Fn(u32) -> bool) -> bool {
    (0..DOUBLINGS).any(|doubling| is_so(milliseconds << doubling))
}
