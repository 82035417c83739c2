//! Descriptors of interfaces in C, as the runtime has them: copies, which stay. C's stands where it
//! does for as long as its stubs are loaded; in a program that loads plug-ins and lets them go,
//! another one may stand there later.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use nearcall::{AStackClass, AppendableDescriptor, InterfaceDescriptor, ProcedureDescriptor};

use super::literal;
use super::records::Interface;

/// By the address of C's: all that have stood there.
static INTERFACES: Mutex<BTreeMap<usize, Vec<&'static InterfaceDescriptor>>> =
    Mutex::new(BTreeMap::new());

/// The descriptor of an interface, which stays, whatever becomes of C's.
///
/// # Safety
///
/// - H4 static, the descriptor and all that it names, for as long as this runs.
pub unsafe fn descriptor(interface: *const Interface) -> &'static InterfaceDescriptor {
    // SAFETY: H4.
    let own = unsafe { &*interface };
    // SAFETY: H4.
    let described = unsafe { read(own) };
    let mut known = INTERFACES.lock().unwrap_or_else(PoisonError::into_inner);
    let there = known.entry(interface.addr()).or_default();
    if let Some(known) = there.iter().find(|known| described.is(known)) {
        return known;
    }
    let kept = described.kept();
    there.push(kept);
    kept
}

/// What a descriptor of C's says; the names are C's.
struct Described {
    name: &'static str,
    hash: [u8; 16],
    procedures: Vec<ProcedureDescriptor>,
    classes: Vec<AStackClass>,
    appendables: Vec<AppendableDescriptor>,
}

impl Described {
    fn is(&self, other: &InterfaceDescriptor) -> bool {
        self.name == other.name
            && self.hash == other.hash
            && self.procedures == other.procedures
            && self.classes == other.classes
            && self.appendables == other.appendables
    }

    fn kept(self) -> &'static InterfaceDescriptor {
        let procedures = self.procedures.into_iter();
        let procedures = procedures.map(|one| ProcedureDescriptor { name: kept(one.name), ..one });
        let appendables = self.appendables.into_iter().map(|one| AppendableDescriptor {
            name: kept(one.name),
            hashes: Box::leak(one.hashes.into()),
            ..one
        });
        Box::leak(Box::new(InterfaceDescriptor {
            name: kept(self.name),
            hash: self.hash,
            procedures: Box::leak(procedures.collect()),
            classes: Box::leak(self.classes.into()),
            appendables: Box::leak(appendables.collect()),
        }))
    }
}

fn kept(name: &str) -> &'static str {
    Box::leak(name.into())
}

/// Says what a descriptor of C's says.
///
/// # Safety
///
/// - H4 static, all that it names, for as long as what is returned.
unsafe fn read(interface: &Interface) -> Described {
    // SAFETY: H4.
    let procedures = unsafe { listed(interface.procedures, interface.procedure_count) };
    let procedures = procedures.iter().map(|procedure| ProcedureDescriptor {
        // SAFETY: H4.
        name: unsafe { literal(procedure.name) },
        hash: procedure.hash,
        class: procedure.class_index,
        is_oneway: procedure.is_oneway,
        is_idempotent: procedure.is_idempotent,
        is_leaf: procedure.is_leaf,
    });
    // SAFETY: H4.
    let classes = unsafe { listed(interface.classes, interface.class_count) };
    let classes = classes
        .iter()
        .map(|class| AStackClass { block_bytes: class.block_bytes, count: class.count });
    // SAFETY: H4.
    let appendables = unsafe { listed(interface.appendables, interface.appendable_count) };
    let appendables = appendables.iter().map(|appendable| AppendableDescriptor {
        // SAFETY: H4.
        name: unsafe { literal(appendable.name) },
        procedure: appendable.procedure,
        // SAFETY: H4.
        hashes: unsafe { listed(appendable.hashes, appendable.hash_count) },
    });
    Described {
        // SAFETY: H4.
        name: unsafe { literal(interface.name) },
        hash: interface.hash,
        procedures: procedures.collect(),
        classes: classes.collect(),
        appendables: appendables.collect(),
    }
}

/// Those of a list; none may be null.
///
/// # Safety
///
/// - H4 static: as many, for as long as what is returned.
unsafe fn listed<T>(first: *const T, count: u32) -> &'static [T] {
    match count {
        0 => &[],
        // SAFETY: H4.
        count => unsafe { std::slice::from_raw_parts(first, count as usize) },
    }
}
