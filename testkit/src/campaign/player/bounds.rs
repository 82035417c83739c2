//! Players confine themselves before they play, all but a few.

use super::Role;
use crate::campaign::t29_policy::Part;
use crate::confined::{List, confine};

/// Said to players that are built with a sanitizer, which makes system calls of its own.
pub const SANITIZED: &str = "NEARCALL_TESTKIT_SANITIZED";

/// Who starts another program, or becomes one; and thieves, who are neither clients nor servers.
const UNCONFINED: [Role; 7] = [
    Role::Bequeath,
    Role::Reuse,
    Role::Policy(Part::Activate),
    Role::Policy(Part::Steal),
    Role::Policy(Part::Spoil),
    Role::Policy(Part::Impose),
    Role::Policy(Part::Usurp),
];

/// Whether players of this role confine themselves.
pub fn confines_itself(role: &str) -> bool {
    !UNCONFINED.iter().any(|unconfined| unconfined.word() == role)
}

/// Confines this player, if it is one of those.
pub fn confine_player(role: &str) {
    if confines_itself(role) && std::env::var_os(SANITIZED).is_none() {
        confine(List::Playing);
    }
}
