//! From declarations of C with attributes to the syntax tree that both grammars share.
//!
//! Decides what pointers, arrays, lengths and discriminators come to; the resolver then judges
//! names, values and limits as it does for OMG IDL. What is declared in an interface is visible
//! behind it, as in C: types and constants come out before the interface, operations in it.
//!
//! ```text
//! attributes  which there are, and where          shape       what declarators come to
//! lengths     lengths and discriminators          members     structs, unions, enums
//! operation   operations and their parameters
//! ```

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::ast::{
    Attribute, Declaration, DeclarationKind, Declarator, Item, Specifier, SpecifierKind,
};
use super::attributes::{Place, find, is_outside, values};
use super::shape::{Base, Layer, PointerKind, Role, Scalar, Shape, named, scoped};
use crate::diagnostic::Diagnostic;
use crate::front::ast::{
    Annotation, Arguments, Definition, DefinitionKind, Expression, ExpressionKind,
    Item as TreeItem, Name, TypeKind, TypeUse,
};
use crate::front::rules::midl as rules;
use crate::model::Primitive;
use crate::source::Span;

pub(super) struct Lowering {
    pub diagnostics: Vec<Diagnostic>,
    /// What a note has been made of.
    pub noted: HashSet<String>,
    /// What typedefs come to; `None` for what was reported.
    pub types: HashMap<Rc<str>, Option<Shape>>,
    /// Those that come to an array, which is a pointer where it is a parameter.
    pub arrays: HashSet<Rc<str>>,
    /// The name of the type that a tag is of.
    pub tags: HashMap<Rc<str>, Tag>,
    pub constants: HashSet<Rc<str>>,
    /// Interfaces, declared forward or defined.
    pub interfaces: HashSet<Rc<str>>,
    /// Interfaces of COM and local ones, which nobody calls.
    pub left_out: HashSet<Rc<str>>,
    /// Of each attribute that is refused, where its finding is.
    pub refused: HashMap<Rc<str>, usize>,
    /// What has come out at the outermost level.
    pub items: Vec<TreeItem>,
    /// What a pointer is that does not say it and is no parameter.
    pub pointer_default: PointerKind,
    pub is_included: bool,
    /// Types that are declared forward and not defined yet.
    pub undefined: HashSet<Rc<str>>,
    /// What the next union on the spot has as its discriminator.
    pub switch_hint: Option<TypeUse>,
    /// How many types nobody gives a name.
    pub unnamed: u32,
}

/// What a tag names.
#[derive(Clone)]
pub(super) struct Tag {
    pub shape: Shape,
    /// It is defined, or declared forward.
    pub is_made: bool,
}

/// Lowers everything.
pub(super) fn lower(items: Vec<Item>) -> (Vec<TreeItem>, Vec<Diagnostic>) {
    let mut lowering = Lowering {
        diagnostics: Vec::new(),
        noted: HashSet::new(),
        types: HashMap::new(),
        arrays: HashSet::new(),
        tags: HashMap::new(),
        constants: HashSet::new(),
        interfaces: HashSet::new(),
        left_out: HashSet::new(),
        refused: HashMap::new(),
        items: Vec::new(),
        pointer_default: PointerKind::Unique,
        is_included: false,
        undefined: HashSet::new(),
        switch_hint: None,
        unnamed: 0,
    };
    for item in &items {
        lowering.item(item);
    }
    (lowering.items, lowering.diagnostics)
}

impl Lowering {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Mark(mark) => self.items.push(mark.clone()),
            Item::Declaration(declaration) => {
                self.is_included = declaration.is_included;
                self.declaration(declaration);
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let attributes = &declaration.attributes;
        match &declaration.kind {
            DeclarationKind::Interface { name, base, items } => {
                self.interface(declaration, name, base.as_ref(), items);
            }
            DeclarationKind::Typedef { specifier, declarators } => {
                self.typedef(declaration, specifier, declarators);
            }
            DeclarationKind::Tagged(specifier) => {
                self.check_attributes(attributes, Place::Type);
                self.specified(specifier, None, attributes, declaration.doc.clone());
            }
            DeclarationKind::Constant { specifier, declarator, value } => {
                self.check_attributes(attributes, Place::Type);
                self.constant(declaration, specifier, declarator, value);
            }
            DeclarationKind::Outside { names } => {
                for name in names {
                    self.types.insert(name.text.clone(), None);
                }
                self.push(declaration, DefinitionKind::Outside { names: names.clone() });
            }
            DeclarationKind::Operation { declarator, .. } => {
                let message = format!("`{}` stands in no interface", declarator.name.text);
                let finding = Diagnostic::new(&rules::PLACE, declarator.name.span, message)
                    .help("put it into `interface name { ... }`");
                self.diagnostics.push(finding);
            }
            DeclarationKind::Forward { name } => {
                self.interfaces.insert(name.text.clone());
            }
            DeclarationKind::Nothing => {}
        }
    }

    pub(super) fn push(&mut self, declaration: &Declaration, kind: DefinitionKind) {
        self.define(declaration.doc.clone(), Vec::new(), kind);
    }

    pub(super) fn define(
        &mut self,
        doc: Option<Rc<str>>,
        annotations: Vec<Annotation>,
        kind: DefinitionKind,
    ) {
        let is_included = self.is_included;
        let definition = Definition { annotations, doc, is_included, kind };
        self.items.push(TreeItem::Definition(definition));
    }

    fn interface(
        &mut self,
        declaration: &Declaration,
        name: &Name,
        base: Option<&Name>,
        items: &[Item],
    ) {
        let attributes = &declaration.attributes;
        self.check_attributes(attributes, Place::Interface);
        let is_left_out = self.is_left_out(name, base, attributes);
        self.interfaces.insert(name.text.clone());
        let outer = std::mem::replace(&mut self.pointer_default, PointerKind::Unique);
        self.set_pointer_default(attributes);
        let mut operations = Vec::new();
        for item in items {
            match item {
                // What is said of those that nobody calls would be no help.
                Item::Declaration(Declaration {
                    kind: DeclarationKind::Operation { .. }, ..
                }) if is_left_out => {}
                Item::Declaration(Declaration {
                    kind: DeclarationKind::Operation { specifier, declarator, parameters },
                    attributes,
                    doc,
                    is_included,
                }) => {
                    self.is_included = *is_included;
                    let parts = (specifier, declarator, &parameters[..]);
                    operations.extend(self.operation(attributes, doc.clone(), parts));
                }
                _ => self.item(item),
            }
        }
        self.is_included = declaration.is_included;
        self.pointer_default = outer;
        if is_left_out {
            let names = vec![name.clone()];
            return self.push(declaration, DefinitionKind::Outside { names });
        }
        let items = operations.into_iter().map(TreeItem::Definition).collect();
        let bases = base.map(scoped).into_iter().collect();
        self.push(declaration, DefinitionKind::Interface { name: name.clone(), bases, items });
        self.identify(name, attributes);
    }

    /// Is the interface of COM, or local, or is its base? Both have been said then.
    fn is_left_out(&mut self, name: &Name, base: Option<&Name>, attributes: &[Attribute]) -> bool {
        let mut is_left_out = is_outside(attributes);
        if let (false, Some(local)) = (is_left_out, find(attributes, "local")) {
            self.note_local(name, local.span);
            is_left_out = true;
        }
        if let Some(base) = base {
            let is_of_com = matches!(&*base.text, "IUnknown" | "IDispatch" | "IInspectable");
            if is_of_com && !is_left_out {
                let message = format!("`{}` is of COM, whose objects are outside", base.text);
                let finding = Diagnostic::new(&rules::COM, base.span, message)
                    .help("declare the operations in an interface without a base");
                self.diagnostics.push(finding);
            }
            if !is_left_out && self.left_out.contains(&base.text) {
                self.note_local(name, base.span);
            }
            is_left_out |= is_of_com || self.left_out.contains(&base.text);
        }
        if is_left_out {
            self.left_out.insert(name.text.clone());
        }
        is_left_out
    }

    pub(super) fn note_local(&mut self, name: &Name, span: Span) {
        let message = format!("`{}` is left out, for what stands here", name.text);
        self.diagnostics.push(Diagnostic::new(&rules::LOCAL, span, message));
    }

    fn set_pointer_default(&mut self, attributes: &[Attribute]) {
        let Some(attribute) = find(attributes, "pointer_default") else {
            return;
        };
        let word = values(attribute).first().and_then(|value| only_name(value));
        match word.as_ref().map(|name| &*name.text) {
            Some("ref") => self.pointer_default = PointerKind::Ref,
            Some("unique") => self.pointer_default = PointerKind::Unique,
            Some("ptr") => self.report_full_pointer(attribute.span),
            _ => {
                let message = "`pointer_default` is given what is no kind of pointer";
                let finding = Diagnostic::new(&rules::ARGUMENTS, attribute.span, message)
                    .help("write `ref` or `unique`");
                self.diagnostics.push(finding);
            }
        }
    }

    /// The repository id, from uuid and version.
    fn identify(&mut self, name: &Name, attributes: &[Attribute]) {
        let text = |attribute: &Attribute| {
            let value = values(attribute).first().map(|value| value.kind.clone());
            match value {
                Some(ExpressionKind::String(text)) => Some((text, attribute.span)),
                _ => None,
            }
        };
        let version = find(attributes, "version").and_then(text);
        if let Some((version, span)) = &version {
            self.check_version(version, *span);
        }
        let Some((uuid, span)) = find(attributes, "uuid").and_then(text) else {
            return;
        };
        self.check_uuid(&uuid, span);
        let version = version.map_or("1.0".into(), |(version, _)| version);
        let id = format!("DCE:{}:{version}", uuid.to_lowercase()).into();
        self.define(None, Vec::new(), DefinitionKind::TypeId { name: scoped(name), id, span });
    }

    fn constant(
        &mut self,
        declaration: &Declaration,
        specifier: &Specifier,
        declarator: &Declarator,
        value: &Expression,
    ) {
        let Some(shape) = self.specified(specifier, None, &[], None) else {
            return;
        };
        let mut shape = self.declared(shape, declarator, &[]);
        let name = &declarator.name;
        // `const char *` is a text.
        shape.is_string |= matches!(shape.layers[..], [Layer::Pointer(_)]);
        let Some(laid) = self.lay(&shape, &[], Role::Parameter, name) else {
            return;
        };
        self.constants.insert(name.text.clone());
        let (declared, value) = (laid.used, value.clone());
        let kind = DefinitionKind::Constant { declared, name: name.clone(), value };
        self.push(declaration, kind);
    }

    /// Are all of these constants or enumerators, so that the resolver can say more of them?
    pub(super) fn is_constant(&self, names: &[&Name]) -> bool {
        names.iter().all(|name| self.constants.contains(&name.text))
    }

    fn typedef(
        &mut self,
        declaration: &Declaration,
        specifier: &Specifier,
        declarators: &[Declarator],
    ) {
        let attributes = &declaration.attributes;
        self.check_attributes(attributes, Place::Type);
        let is_bare = |one: &&Declarator| one.stars == 0 && one.dimensions.is_empty();
        let wish = declarators.iter().find(is_bare).map(|one| one.name.clone());
        let doc = declaration.doc.clone();
        let inner = match is_outside(attributes) {
            true => None,
            false => self.specified(specifier, wish.as_ref(), attributes, doc),
        };
        for declarator in declarators {
            let shape = inner.clone().map(|inner| self.declared(inner, declarator, attributes));
            let shape = shape.and_then(|shape| self.alias(declaration, &declarator.name, shape));
            if shape.is_none() {
                let names = vec![declarator.name.clone()];
                self.push(declaration, DefinitionKind::Outside { names });
            }
            self.types.insert(declarator.name.text.clone(), shape);
        }
    }

    /// What a typedef comes to: an alias of its own if it is a type of values, else a shape that
    /// is written out where the name is used.
    fn alias(&mut self, declaration: &Declaration, name: &Name, shape: Shape) -> Option<Shape> {
        let Base::Value { used, scalar } = &shape.base else {
            return Some(shape);
        };
        let is_own = matches!(&used.kind, TypeKind::Name(own) if own.parts[0].text == name.text);
        if is_own && shape.layers.is_empty() {
            return Some(shape);
        }
        let is_again = |known: &Shape| {
            known.layers.is_empty()
                && matches!(known.base, Base::Value { scalar: other, .. } if other == *scalar)
        };
        let known = self.types.get(&name.text).and_then(Option::as_ref);
        if let (Scalar::Is(_), true, Some(known)) = (scalar, shape.layers.is_empty(), known)
            && is_again(known)
        {
            // C allows to say the same again, and files of C do.
            return Some(known.clone());
        }
        let is_count = |layer: &Layer| matches!(layer, Layer::Count(_));
        let is_text = is_character(*scalar) && !shape.layers.is_empty();
        if !shape.layers.iter().all(is_count) || is_text || shape.is_string {
            return Some(shape);
        }
        let is_forward = matches!(
            &used.kind,
            TypeKind::Name(name) if self.undefined.contains(&name.parts[0].text)
        );
        if is_forward {
            return Some(shape);
        }
        if !shape.layers.is_empty() || self.is_array(used) {
            self.arrays.insert(name.text.clone());
        }
        let annotations = self.range(&declaration.attributes);
        let laid = self.lay(&shape, &[], Role::Inner, name)?;
        let declarator =
            crate::front::ast::Declarator { name: name.clone(), dimensions: Vec::new() };
        let kind = DefinitionKind::Typedef { declared: laid.used, declarators: vec![declarator] };
        self.define(declaration.doc.clone(), annotations, kind);
        let scalar = if shape.layers.is_empty() { *scalar } else { Scalar::No };
        Some(Shape::value(named(name), scalar))
    }

    /// Is this the name of an array?
    pub(super) fn is_array(&self, used: &TypeUse) -> bool {
        matches!(&used.kind, TypeKind::Name(name) if self.arrays.contains(&name.parts[0].text))
    }

    /// `range(least, greatest)` as the annotation that it is.
    pub(super) fn range(&mut self, attributes: &[Attribute]) -> Vec<Annotation> {
        let Some(attribute) = find(attributes, "range") else {
            return Vec::new();
        };
        let [least, greatest] = values(attribute)[..] else {
            return Vec::new();
        };
        let argument = |name: &str, value: &Expression| {
            (Name { text: name.into(), span: value.span }, value.clone())
        };
        let arguments = vec![argument("min", least), argument("max", greatest)];
        vec![annotation("range", Arguments::Named(arguments), attribute.span)]
    }

    /// A pointer to an interface is an object of COM.
    fn report_interface_as_type(&mut self, name: &Name) {
        if !self.noted.insert(format!("interface {}", name.text)) {
            return;
        }
        let message = format!("`{}` is an interface, and no type of values", name.text);
        let finding = Diagnostic::new(&rules::COM, name.span, message)
            .help("pass the name under which the client imports it, or what identifies the thing");
        self.diagnostics.push(finding);
    }

    /// The shape of a specifier. `wish`: what a type without a name of its own is called.
    pub(super) fn specified(
        &mut self,
        specifier: &Specifier,
        wish: Option<&Name>,
        attributes: &[Attribute],
        doc: Option<Rc<str>>,
    ) -> Option<Shape> {
        let span = specifier.span;
        let base = match &specifier.kind {
            SpecifierKind::Primitive(primitive) => {
                let used = TypeUse { kind: TypeKind::Primitive(*primitive), span };
                return Some(Shape::value(used, Scalar::Is(*primitive)));
            }
            SpecifierKind::Void => Base::Void,
            SpecifierKind::BindingHandle => Base::BindingHandle,
            SpecifierKind::Outside => return None,
            SpecifierKind::Name(name) => {
                return match self.types.get(&name.text) {
                    Some(Some(shape)) => Some(located(shape, span)),
                    Some(None) => None,
                    None if self.interfaces.contains(&name.text) => {
                        self.report_interface_as_type(name);
                        None
                    }
                    // The resolver says that it is unknown, or what it is.
                    None => Some(Shape::value(named(name), Scalar::Unknown)),
                };
            }
            SpecifierKind::Struct { tag, members } => {
                return self.structure(tag.as_ref(), members.as_deref(), (wish, doc), span);
            }
            SpecifierKind::Union(union) => {
                return self.union(union, (wish, doc), attributes, span);
            }
            SpecifierKind::Enum { tag, enumerators } => {
                return self.enumeration(tag.as_ref(), enumerators.as_deref(), (wish, doc), span);
            }
        };
        Some(Shape { base, layers: Vec::new(), is_string: false })
    }
}

/// The shape of a named type where it is used.
fn located(shape: &Shape, span: Span) -> Shape {
    let mut shape = shape.clone();
    match &mut shape.base {
        Base::Value { used, .. } | Base::Switched { used } => used.span = span,
        Base::Void | Base::BindingHandle => {}
    }
    shape
}

fn is_character(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Is(Primitive::Char | Primitive::WideChar))
}

/// The name that an expression is, if it is nothing else.
fn only_name(value: &Expression) -> Option<Name> {
    match &value.kind {
        ExpressionKind::Name(name) => name.parts.first().cloned(),
        _ => None,
    }
}

/// An annotation as if it stood in the text.
pub(super) fn annotation(name: &str, arguments: Arguments, span: Span) -> Annotation {
    Annotation { name: scoped(&Name { text: name.into(), span }), arguments, span }
}
