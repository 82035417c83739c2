//! From symbols to the model: declarations in the order in which they were completed, references
//! renumbered from symbols to places in that order.

use super::Resolver;
use crate::model::{Case, Declaration, DeclarationId, Kind, Member, Model, Operation, Type, Value};

/// From the id of a symbol to the id in the model.
struct Places(Vec<Option<DeclarationId>>);

impl Resolver {
    /// The model. Only called when nothing was wrong, so that every reference has a target.
    pub(super) fn into_model(mut self) -> Model {
        let mut places = Places(vec![None; self.symbols.len()]);
        let kept = self.declared.iter().filter(|declared| !declared.is_hidden);
        for (declared, place) in kept.zip(0..) {
            places.0[declared.symbol.0 as usize] = Some(DeclarationId(place));
        }
        let declared = std::mem::take(&mut self.declared);
        let declarations = declared
            .into_iter()
            .filter(|declared| !declared.is_hidden)
            .map(|declared| {
                let mut declaration = declared.declaration;
                declaration.repository_id =
                    self.repository_id(declared.symbol, &declaration.name.0);
                places.declaration(&mut declaration);
                declaration
            })
            .collect();
        Model { declarations }
    }
}

impl Places {
    fn id(&self, id: &mut DeclarationId) {
        // A type of the model never refers to what an annotation declares for itself.
        *id = self.0[id.0 as usize].expect("a reference of the model has a target in the model");
    }

    fn declaration(&self, declaration: &mut Declaration) {
        self.annotations(&mut declaration.annotations);
        match &mut declaration.kind {
            Kind::Constant(constant) => {
                self.declared(&mut constant.declared);
                self.value(&mut constant.value);
            }
            Kind::Alias(behind) => self.declared(behind),
            Kind::Struct(declared) => {
                if let Some(base) = &mut declared.base {
                    self.id(base);
                }
                self.members(&mut declared.members);
            }
            Kind::Union(declared) => {
                self.declared(&mut declared.discriminator);
                declared.cases.iter_mut().for_each(|case| self.case(case));
            }
            Kind::Exception(members) => self.members(members),
            Kind::Interface(interface) => {
                interface.bases.iter_mut().for_each(|base| self.id(base));
                interface.operations.iter_mut().for_each(|operation| self.operation(operation));
            }
            Kind::Enum(_) | Kind::Bitmask(_) | Kind::Bitset(_) => {}
        }
    }

    fn annotations(&self, annotations: &mut [crate::model::Annotation]) {
        for annotation in annotations {
            annotation.parameters.values_mut().for_each(|value| self.value(value));
        }
    }

    fn members(&self, members: &mut [Member]) {
        members.iter_mut().for_each(|member| self.member(member));
    }

    fn member(&self, member: &mut Member) {
        self.declared(&mut member.declared);
        self.annotations(&mut member.annotations);
    }

    fn case(&self, case: &mut Case) {
        case.labels.iter_mut().for_each(|label| self.value(label));
        self.member(&mut case.member);
    }

    fn operation(&self, operation: &mut Operation) {
        self.id(&mut operation.declared_in);
        if let Some(returns) = &mut operation.returns {
            self.declared(returns);
        }
        for parameter in &mut operation.parameters {
            self.declared(&mut parameter.declared);
            self.annotations(&mut parameter.annotations);
        }
        operation.raises.iter_mut().for_each(|raised| self.id(raised));
        self.annotations(&mut operation.annotations);
    }

    fn declared(&self, declared: &mut Type) {
        match declared {
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.declared(element),
            Type::Map { key, value, .. } => {
                self.declared(key);
                self.declared(value);
            }
            Type::Named(id) => self.id(id),
            _ => {}
        }
    }

    fn value(&self, value: &mut Value) {
        if let Value::Enumerator(id, _) = value {
            self.id(id);
        }
    }
}
