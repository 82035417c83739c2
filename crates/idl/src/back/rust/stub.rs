//! What both stubs print alike: steps that write a message (`write`) and steps that read one
//! (`read`). Decides the names of locals and how a place is referred to.
//!
//! One step becomes one statement. What differs between the two sides is in [`Side`]: the names of
//! what is written to and read from, and what happens to a value that a peer sent and that is none.

mod read;
mod write;

use std::collections::BTreeMap;

use crate::back::rust::Rust;
use crate::back::rust::casing::{Case, cased, ident};
use crate::back::rust::names::NameSet;
use crate::back::rust::tokens::{Ident, Literal, TokenStream, quote};
use crate::layout::{Form, Place, Root, is_optional, members, root_type};
use crate::model::{DeclarationId, DescriptorKind, Operation, Primitive, Type};
use crate::plan::{Passing, ProcedurePlan};

/// Which stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The call stub.
    Client,
    /// The entry stub.
    Server,
}

/// Prints one stub.
pub struct Printer<'p, 'm> {
    pub rust: &'p Rust<'m>,
    pub scope: usize,
    pub operation: &'m Operation,
    pub plan: &'p ProcedurePlan,
    pub side: Side,
    /// The exception whose members are written or read.
    pub exception: Option<DeclarationId>,
    /// Names of parameters, in the signature of this stub or of the procedure.
    pub parameters: Vec<String>,
    /// Do arguments live on after the stub, so that they have to be values of their own?
    pub is_outlived: bool,
    /// Arguments whose local is a reference to where they were copied to.
    in_rooms: Vec<Root>,
    taken: NameSet,
    locals: BTreeMap<(Place, &'static str), Ident>,
    fixed: BTreeMap<&'static str, Ident>,
}

/// Names of the parameters of an operation, no two alike.
pub fn parameter_names(operation: &Operation) -> Vec<String> {
    let mut taken = NameSet::default();
    let names = operation.parameters.iter().map(|one| cased(&one.name, Case::Snake));
    names.map(|name| taken.take(&name)).collect()
}

impl<'p, 'm> Printer<'p, 'm> {
    /// A printer for one side. Parameters keep their names; locals get out of their way.
    pub fn new(
        rust: &'p Rust<'m>,
        scope: usize,
        operation: &'m Operation,
        plan: &'p ProcedurePlan,
        side: Side,
    ) -> Printer<'p, 'm> {
        let parameters = parameter_names(operation);
        let mut taken = NameSet::default();
        for name in &parameters {
            taken.take(name);
        }
        Printer {
            rust,
            scope,
            operation,
            plan,
            side,
            exception: None,
            parameters,
            is_outlived: false,
            in_rooms: Vec::new(),
            taken,
            locals: BTreeMap::new(),
            fixed: BTreeMap::new(),
        }
    }

    /// From here on members are those of this exception.
    pub fn enter_exception(&mut self, id: DeclarationId) {
        self.exception = Some(id);
        self.locals.retain(|(place, _), _| !matches!(place.root, Root::Member(_)));
    }

    /// A local that every stub has once.
    pub fn fixed(&mut self, name: &'static str) -> Ident {
        let taken = &mut self.taken;
        self.fixed.entry(name).or_insert_with(|| ident(&taken.take(name))).clone()
    }

    /// What a call is made over.
    pub fn client(&mut self) -> TokenStream {
        match self.plan.is_retried {
            true => {
                let client = self.fixed("client");
                quote!(#client)
            }
            false => quote!(self.client),
        }
    }

    /// A local that belongs to a place.
    pub fn local(&mut self, place: &Place, suffix: &'static str) -> Ident {
        let key = (place.clone(), suffix);
        if let Some(local) = self.locals.get(&key) {
            return local.clone();
        }
        let name = match (self.place_name(place), suffix) {
            (name, "") => name,
            // A parameter whose name is a word of Rust's has one more at its end.
            (name, suffix) => format!("{}{suffix}", name.trim_end_matches('_')),
        };
        // On the server a parameter is a local of the same name.
        let is_parameter = matches!(place.root, Root::Parameter(_)) && place.path.is_empty();
        let name = if self.side == Side::Server && is_parameter && suffix.is_empty() {
            name
        } else {
            self.taken.take(&name)
        };
        self.locals.insert(key, ident(&name));
        ident(&name)
    }

    fn place_name(&self, place: &Place) -> String {
        let mut names = vec![self.root_name(place.root)];
        let mut declared = self.root_type(place.root);
        for index in &place.path {
            let Type::Named(id) = self.rust.model.resolved(declared) else {
                break;
            };
            let member = members(self.rust.model, *id)[*index as usize];
            names.push(cased(&member.name, Case::Snake));
            declared = &member.declared;
        }
        names.join("_")
    }

    fn root_name(&self, root: Root) -> String {
        match (root, self.exception) {
            (Root::Returned, _) => String::from("returned"),
            (Root::Parameter(index), _) => self.parameters[index as usize].clone(),
            (Root::Member(index), Some(id)) => {
                cased(&members(self.rust.model, id)[index as usize].name, Case::Snake)
            }
            (Root::Member(_), None) => String::from("member"),
        }
    }

    /// The interface file's name for what an error is about.
    fn reported_name(&self, root: Root) -> String {
        match (root, self.exception) {
            (Root::Parameter(index), _) => self.operation.parameters[index as usize].name.clone(),
            (Root::Member(index), Some(id)) => {
                members(self.rust.model, id)[index as usize].name.clone()
            }
            _ => String::from("returned"),
        }
    }

    /// The type of a root.
    pub fn root_type(&self, root: Root) -> &'m Type {
        static NOTHING: Type = Type::Primitive(Primitive::Octet);
        // A plan names only roots that the operation has.
        root_type(self.rust.model, self.operation, self.exception, root).unwrap_or(&NOTHING)
    }

    fn place_type(&self, place: &Place) -> &'m Type {
        let mut declared = self.root_type(place.root);
        for index in &place.path {
            let Type::Named(id) = self.rust.model.resolved(declared) else {
                break;
            };
            declared = &members(self.rust.model, *id)[*index as usize].declared;
        }
        declared
    }

    fn owned(&self, place: &Place) -> TokenStream {
        let declared = self.rust.owned(self.scope, self.place_type(place));
        match place.path.is_empty() && is_optional(self.rust.model, self.exception, place.root) {
            true => quote!(::core::option::Option<#declared>),
            false => declared,
        }
    }

    /// Whether values here lie in memory as they are marshalled.
    pub fn is_plain(&self, place: &Place) -> bool {
        self.rust.plan.footprint(self.rust.model, self.place_type(place)).is_some()
    }

    /// What the elements are of a list that is copied as it lies in memory, behind its count.
    fn counted(&self, place: &Place, form: Form) -> Option<TokenStream> {
        let is_optional = is_optional(self.rust.model, self.exception, place.root);
        let is_list = form == Form::Marshalled && !is_optional && !self.is_written(place);
        match self.rust.model.resolved(self.place_type(place)) {
            Type::Sequence { element, .. } if is_list => {
                self.rust.plan.footprint(self.rust.model, element)?;
                Some(self.rust.owned(self.scope, element))
            }
            _ => None,
        }
    }

    fn passing(&self, root: Root) -> Option<Passing> {
        let Root::Parameter(parameter) = root else {
            return None;
        };
        let arguments = self.plan.arguments.iter();
        arguments.into_iter().find(|one| one.parameter == parameter).map(|one| one.passing)
    }

    /// Is the root's name, where its value is written, a reference?
    fn is_reference(&self, root: Root) -> bool {
        let passing = self.passing(root);
        match self.side {
            Side::Client => passing.is_some() && passing != Some(Passing::Value),
            Side::Server => self.in_rooms.contains(&root) || self.is_batch(root),
        }
    }

    /// Is the argument's local a reference to where it was copied to?
    pub fn is_in_room(&self, root: Root) -> bool {
        self.in_rooms.contains(&root)
    }

    /// The place as what a method is called on.
    fn receiver(&mut self, place: &Place) -> TokenStream {
        let mut path = match place.root {
            Root::Member(_) => {
                let raised = self.fixed("raised");
                let field = self.member_name(place.root);
                quote!(#raised.#field)
            }
            Root::Parameter(index) if self.side == Side::Client => {
                let name = ident(&self.parameters[index as usize]);
                quote!(#name)
            }
            root => {
                let local = self.local(&Place::whole(root), "");
                quote!(#local)
            }
        };
        let mut declared = self.root_type(place.root);
        for index in &place.path {
            let Type::Named(id) = self.rust.model.resolved(declared) else {
                break;
            };
            let field = &self.rust.field_names(*id)[*index as usize];
            path = quote!(#path.#field);
            declared = &members(self.rust.model, *id)[*index as usize].declared;
        }
        path
    }

    fn member_name(&self, root: Root) -> Ident {
        match (root, self.exception) {
            (Root::Member(index), Some(id)) => self.rust.field_names(id)[index as usize].clone(),
            _ => ident("member"),
        }
    }

    /// The place as a value that is copied.
    fn copied(&mut self, place: &Place) -> TokenStream {
        let receiver = self.receiver(place);
        let is_reference = place.path.is_empty() && self.is_reference(place.root);
        if is_reference { quote!(*#receiver) } else { receiver }
    }

    /// The place as a reference.
    fn reference(&mut self, place: &Place) -> TokenStream {
        let receiver = self.receiver(place);
        let is_reference = place.path.is_empty() && self.is_reference(place.root);
        if is_reference { receiver } else { quote!(&#receiver) }
    }

    /// What is written to.
    pub fn target(&mut self) -> Ident {
        match self.side {
            Side::Client => self.fixed("call"),
            Side::Server => self.fixed("results"),
        }
    }

    /// What is read from.
    fn source(&mut self) -> Ident {
        match self.side {
            Side::Client => self.fixed("reply"),
            Side::Server => self.fixed("arguments"),
        }
    }

    /// Goes on with the value of a check, or refuses the peer's message.
    fn judged(&mut self, result: TokenStream) -> TokenStream {
        match self.side {
            Side::Client => {
                let reply = self.fixed("reply");
                quote!(#result.map_err(|malformed| #reply.malformed(malformed))?)
            }
            Side::Server => quote!(#result?),
        }
    }
}

/// A struct of these members.
pub fn literal(path: &TokenStream, fields: &[Ident], values: &[TokenStream]) -> TokenStream {
    let members = fields.iter().zip(values).map(|(field, value)| {
        let is_same = value.tokens().eq([field.as_str()]);
        if is_same { quote!(#field) } else { quote!(#field: #value) }
    });
    if fields.is_empty() { quote!(#path) } else { quote!(#path { #(#members),* }) }
}

/// What a descriptor has to be, as the runtime calls it.
pub fn descriptor_kind(kind: DescriptorKind) -> TokenStream {
    let kind = ident(&format!("{kind:?}"));
    quote!(::nearcall::raw::DescriptorKind::#kind)
}

/// A number without its type.
pub fn number(value: u32) -> TokenStream {
    let literal = Literal::number(value);
    quote!(#literal)
}
