//! C++17: wrappers of the C stubs, in one header.
//!
//! ```text
//! x.hpp       values of the standard library, clients and servers as classes
//! x.h …       the C stubs that they call, as the C back end prints them
//! ```
//!
//! Modules are namespaces below `nearcall::idl`; what an interface declares inside has the
//! interface's name before its own. Decides only what is C++'s own: names, and which class of the
//! standard library stands for what.

mod caught;
mod clerk;
mod constants;
mod conversions;
mod deferred;
mod descriptors;
mod exchanges;
mod feeds;
mod given;
mod interface;
mod posting;
mod said;
pub(super) mod selftest;
mod times;
mod types;

use std::collections::HashSet;

use crate::back::c::C;
use crate::back::c::guards::{close_expected, guard_of, open_header};
use crate::back::c::text::Text;
use crate::back::{Output, Printed};
use crate::model::{DeclarationId, Kind, Model};

/// Functions that stand beside clients, in the namespaces of their interfaces, and one that every
/// exception has.
const FUNCTIONS: &[&str] =
    &["binding", "introduce", "lend", "posting", "rebind", "what", "with_deadline"];

/// What every printer looks at.
struct Cpp<'c, 'm> {
    c: &'c C<'m>,
    /// Where each declaration stands in the order that types are defined in.
    places: Vec<usize>,
    /// The namespace of each declaration, and its own name in there.
    names: Vec<(String, String)>,
}

/// The C++ source for every declaration of a model.
pub fn compile_cpp(model: &Model, stem: &str) -> Printed {
    let c = C::new(model);
    let unsupported = c.too_long();
    if !unsupported.is_empty() {
        return Err(unsupported);
    }
    let within = C::new(model).within();
    let cpp = Cpp::new(&within);
    let mut files = vec![Output { suffix: ".hpp", text: cpp.header(&c, stem) }];
    files.extend(c.outputs(stem));
    Ok(files)
}

impl<'c, 'm> Cpp<'c, 'm> {
    fn new(c: &'c C<'m>) -> Cpp<'c, 'm> {
        let mut places = vec![0; c.order.len()];
        for (place, id) in c.order.iter().enumerate() {
            places[id.0 as usize] = place;
        }
        Cpp { c, places, names: names(c) }
    }
}

/// The namespace of each declaration, and its own name in there, which nothing else has.
fn names(c: &C) -> Vec<(String, String)> {
    let declarations = &c.model.declarations;
    let declared: HashSet<&[String]> = declarations.iter().map(|one| &one.name.0[..]).collect();
    let mut taken = HashSet::new();
    let named = c.ids().zip(declarations).map(|(id, declaration)| {
        let parts = &declaration.name.0;
        let is_module = |count: &usize| !declared.contains(&parts[..*count]);
        let modules = (1..parts.len()).take_while(is_module).count();
        let mut space = String::from("nearcall::idl");
        for part in &parts[..modules] {
            space += &format!("::{}", c.names.plain(part));
        }
        let mut own = match (&declaration.kind, modules) {
            // A macro's name, which is to be had again.
            (Kind::Constant(_), 0) => c.names.declaration(id).to_owned(),
            _ => c.names.plain(&parts[modules..].join("_")),
        };
        while FUNCTIONS.contains(&&*own) || !taken.insert((space.clone(), own.clone())) {
            own.push('_');
        }
        (space, own)
    });
    named.collect()
}

impl Cpp<'_, '_> {
    /// Beside what `c` prints.
    fn header(&self, c: &C, stem: &str) -> String {
        let mut text = self.c.heading("Wrappers of the C stubs.");
        let body = self.declarations();
        open_header(&mut text, &guard_of((stem, "HPP"), &body));
        text.line("");
        text.line("#include <nearcall.hpp>");
        if c.times().next().is_some() {
            text.line("#include <nearcall_time.hpp>");
        }
        c.include_header(stem, "hpp", &mut text);
        text.line("");
        text.lines(body.lines().map(String::from));
        close_expected(&mut text);
        text.line("#endif");
        text.finish()
    }

    /// All that the header declares.
    fn declarations(&self) -> String {
        let mut text = Text::default();
        self.undefine_constants(&mut text);
        self.print_forwards(&mut text);
        for id in self.c.order.iter().copied() {
            self.print_type(id, &mut text);
        }
        for id in self.c.order.iter().copied() {
            self.print_conversions(id, &mut text);
        }
        for id in self.c.ids() {
            let declaration = self.c.model.declaration(id);
            if matches!(declaration.kind, Kind::Interface(_)) && !declaration.is_included {
                self.print_interface(id, &mut text);
            }
        }
        text.finish()
    }

    /// The namespace of a declaration, and its own name in there.
    fn place(&self, id: DeclarationId) -> &(String, String) {
        &self.names[id.0 as usize]
    }

    /// A name that no declaration has in the namespace of `id`, and no operation of `id`, which a
    /// class of that name would take for how it is made.
    fn unused(&self, id: DeclarationId, mut name: String) -> String {
        let space = &self.place(id).0;
        let operations = match &self.c.model.declaration(id).kind {
            Kind::Interface(interface) => interface.operations.as_slice(),
            _ => &[],
        };
        while operations.iter().any(|one| one.name == name)
            || self.names.iter().any(|(other, own)| other == space && *own == name)
        {
            name.push('_');
        }
        name
    }

    /// The whole name of a declaration.
    fn path(&self, id: DeclarationId) -> String {
        let (space, name) = self.place(id);
        format!("::{space}::{name}")
    }

    /// Something that is there once, whichever headers have it.
    fn open_space(&self, id: DeclarationId, what: &str, text: &mut Text) {
        let name = self.c.names.declaration(id);
        text.line(format!("#ifndef NEARCALL_{what}_CPP_{name}"));
        text.line(format!("#define NEARCALL_{what}_CPP_{name}"));
        text.line(format!("namespace {} {{", self.place(id).0));
    }

    fn close_space(&self, text: &mut Text) {
        text.line("}");
        text.line("#endif");
        text.line("");
    }
}
