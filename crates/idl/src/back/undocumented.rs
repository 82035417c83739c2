//! What stubs say of a procedure that the interface file says nothing of.

use crate::model::{AttributeHalf, Operation};

/// To who calls it.
pub fn called(operation: &Operation) -> String {
    accessed(operation).unwrap_or_else(|| format!("Calls `{}`.", operation.name))
}

/// To who writes it.
pub fn served(operation: &Operation) -> String {
    accessed(operation).unwrap_or_else(|| format!("The procedure `{}`.", operation.name))
}

fn accessed(operation: &Operation) -> Option<String> {
    let name = &operation.name;
    let attribute = |prefix| name.strip_prefix(prefix).unwrap_or(name);
    Some(match operation.attribute? {
        AttributeHalf::Getter => format!("Reads `{}`.", attribute("_get_")),
        AttributeHalf::Setter => format!("Writes `{}`.", attribute("_set_")),
    })
}
