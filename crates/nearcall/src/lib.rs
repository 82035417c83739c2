//! nearcall
