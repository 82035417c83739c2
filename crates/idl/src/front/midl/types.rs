//! The grammar of MIDL: type specifiers and attributes.

use super::ast::{
    Argument, Arm, Attribute, Enumerator, Field, Label, Specifier, SpecifierKind, Union,
};
use super::own::OWN;
use super::words;
use crate::diagnostic::Diagnostic;
use crate::front::ast::Name;
use crate::front::parser::{Parser, Result};
use crate::front::rules::{midl as rules, syntax};
use crate::model::Primitive;
use crate::source::Span;

impl Parser {
    /// Every list of attributes that stands here; none is a result too.
    pub(super) fn attributes(&mut self) -> Result<Vec<Attribute>> {
        let mut attributes = Vec::new();
        while self.take("[") {
            while !self.is("]") {
                attributes.push(self.midl_attribute()?);
                if !self.take(",") && !self.is("]") {
                    return Err(self.unexpected("`,` or `]`"));
                }
            }
            self.advance();
        }
        Ok(attributes)
    }

    fn midl_attribute(&mut self) -> Result<Attribute> {
        let name = self.any_name("an attribute")?;
        let start = name.span;
        let arguments = match () {
            () if !self.is("(") => Vec::new(),
            () if takes_type(&name.text) => self.type_argument()?,
            () if takes_values(&name.text) => self.value_arguments()?,
            () => self.skipped_arguments()?,
        };
        Ok(Attribute { name, arguments, span: start.to(self.last_span()) })
    }

    fn type_argument(&mut self) -> Result<Vec<Argument>> {
        self.expect("(")?;
        let specifier = self.nested(Parser::specifier)?;
        self.expect(")")?;
        Ok(vec![Argument::Type(specifier)])
    }

    fn value_arguments(&mut self) -> Result<Vec<Argument>> {
        self.expect("(")?;
        let arguments = self.list(|parser| {
            if parser.is(",") || parser.is(")") {
                return Ok(Argument::Nothing);
            }
            let mut stars = 0;
            while parser.take("*") {
                stars += 1;
            }
            Ok(Argument::Value { stars, value: parser.expression()? })
        })?;
        self.expect(")")?;
        Ok(arguments)
    }

    /// Arguments of what means nothing here, to the parenthesis that closes them.
    fn skipped_arguments(&mut self) -> Result<Vec<Argument>> {
        let mut depth = 0u32;
        while !self.is_end() && !self.is(";") && !self.is("{") && !self.is("}") {
            if self.is("(") {
                depth += 1;
            } else if self.is(")") {
                depth -= 1;
            }
            self.advance();
            if depth == 0 {
                return Ok(Vec::new());
            }
        }
        Err(self.unexpected("`)`"))
    }

    /// A type, without what a declarator adds.
    pub(super) fn specifier(&mut self) -> Result<Specifier> {
        while self.word().is_some_and(words::is_qualifier) {
            self.advance();
        }
        let start = self.span();
        let kind = match self.word() {
            Some("struct") => self.midl_struct()?,
            Some("union") => self.midl_union()?,
            Some("enum") => self.midl_enum()?,
            Some("pipe") => self.pipe()?,
            Some("bitmap") if self.is_bitmap() => self.bitmap_of_pidl()?,
            Some("interface") => self.interface_pointer()?,
            Some("SAFEARRAY") if self.is_at(self.at + 1, "(") => self.interface_pointer()?,
            Some(_) => match self.base_type() {
                Some(kind) => kind,
                None => SpecifierKind::Name(self.name_of_type()?),
            },
            None => return Err(self.unexpected("a type")),
        };
        while self.word().is_some_and(words::is_qualifier) {
            self.advance();
        }
        Ok(self.specified(kind, start))
    }

    fn name_of_type(&mut self) -> Result<Name> {
        if self.word().is_some_and(words::is_reserved) {
            return Err(self.unexpected("a type"));
        }
        self.any_name("a type")
    }

    /// The types that need no declaration (C706, section 4.2.9), in any order of their words.
    fn base_type(&mut self) -> Option<SpecifierKind> {
        let alone = match self.word()? {
            "boolean" => Some(SpecifierKind::Primitive(Primitive::Boolean)),
            "byte" => Some(SpecifierKind::Primitive(Primitive::Octet)),
            "float" => Some(SpecifierKind::Primitive(Primitive::Float)),
            "double" => Some(SpecifierKind::Primitive(Primitive::Double)),
            "wchar_t" => Some(SpecifierKind::Primitive(Primitive::WideChar)),
            "error_status_t" => Some(SpecifierKind::Primitive(Primitive::Uint32)),
            "void" => Some(SpecifierKind::Void),
            "handle_t" => Some(SpecifierKind::BindingHandle),
            _ => None,
        };
        if let Some(kind) = alone {
            self.advance();
            return Some(kind);
        }
        let mut words = BaseWords::default();
        while self.word().is_some_and(|word| words.take(word)) {
            self.advance();
        }
        words.primitive().map(SpecifierKind::Primitive)
    }

    fn tag(&mut self) -> Result<Option<Name>> {
        match self.word() {
            Some("switch") | None => Ok(None),
            Some(_) => self.name("a tag").map(Some),
        }
    }

    /// What a body is called in messages: its tag, or the word that it begins with.
    fn owner(tag: Option<&Name>, what: &str, span: Span) -> Name {
        tag.cloned().unwrap_or_else(|| Name { text: what.into(), span })
    }

    fn midl_struct(&mut self) -> Result<SpecifierKind> {
        let span = self.advance();
        let tag = self.tag()?;
        if tag.is_some() && !self.is("{") {
            return Ok(SpecifierKind::Struct { tag, members: None });
        }
        let owner = Self::owner(tag.as_ref(), "struct", span);
        let members: Vec<Field> = self.body(&owner, Parser::midl_member)?;
        Ok(SpecifierKind::Struct { tag, members: Some(members) })
    }

    fn midl_enum(&mut self) -> Result<SpecifierKind> {
        let span = self.advance();
        let tag = self.tag()?;
        if tag.is_some() && !self.is("{") {
            return Ok(SpecifierKind::Enum { tag, enumerators: None });
        }
        let owner = Self::owner(tag.as_ref(), "enum", span);
        let found = self.diagnostics.len();
        let enumerators = self.body(&owner, |parser| {
            let doc = parser.doc();
            let name = parser.name("an enumerator")?;
            let value = if parser.take("=") { Some(parser.expression()?) } else { None };
            if !parser.take(",") && !parser.is("}") {
                return Err(parser.unexpected("`,` or `}`"));
            }
            Ok(Enumerator { doc, name, value })
        })?;
        if enumerators.is_empty() && self.diagnostics.len() == found {
            let message = format!("`{}` is empty: an enum has at least one", owner.text);
            let finding = Diagnostic::new(&syntax::EMPTY_BODY, owner.span, message);
            self.diagnostics.push(finding);
        }
        Ok(SpecifierKind::Enum { tag, enumerators: Some(enumerators) })
    }

    fn midl_union(&mut self) -> Result<SpecifierKind> {
        let span = self.advance();
        let tag = self.tag()?;
        let mut switch = None;
        if self.take_word("switch").is_some() {
            self.expect("(")?;
            switch = Some(self.nested(Parser::specifier)?);
            self.name("the discriminator")?;
            self.expect(")")?;
            if !self.is("{") {
                self.name("the union in it")?;
            }
        } else if tag.is_some() && !self.is("{") {
            return Ok(SpecifierKind::Union(Box::new(Union { tag, switch, arms: None })));
        }
        let owner = Self::owner(tag.as_ref(), "union", span);
        let is_encapsulated = switch.is_some();
        let arms = self.body(&owner, |parser| match is_encapsulated {
            true => parser.labelled_arm(),
            false => parser.attributed_arm(),
        })?;
        Ok(SpecifierKind::Union(Box::new(Union { tag, switch, arms: Some(arms) })))
    }

    /// `case 1: case 2: type name;` of a union that carries its discriminator.
    fn labelled_arm(&mut self) -> Result<Arm> {
        let start = self.span();
        let mut labels = Vec::new();
        loop {
            if self.take_word("case").is_some() {
                labels.push(Label::Value(self.expression()?));
            } else if self.is_word("default") {
                labels.push(Label::Default(self.advance()));
            } else if labels.is_empty() {
                return Err(self.unexpected("`case` or `default`"));
            } else {
                break;
            }
            self.expect(":")?;
        }
        let field = if self.take(";") { None } else { Some(self.midl_member()?) };
        Ok(Arm { labels, field, span: start })
    }

    /// `[case(1, 2)] type name;` of a union whose discriminator stands elsewhere.
    fn attributed_arm(&mut self) -> Result<Arm> {
        let start = self.span();
        let doc = self.doc();
        let (cases, attributes): (Vec<Attribute>, Vec<Attribute>) = self
            .attributes()?
            .into_iter()
            .partition(|one| matches!(&*one.name.text, "case" | "default"));
        let mut labels = Vec::new();
        for one in cases {
            if &*one.name.text == "default" {
                labels.push(Label::Default(one.span));
            }
            labels.extend(one.arguments.into_iter().filter_map(|argument| match argument {
                Argument::Value { stars: 0, value } => Some(Label::Value(value)),
                _ => None,
            }));
        }
        if self.take(";") {
            return Ok(Arm { labels, field: None, span: start });
        }
        let mut field = self.midl_member()?;
        field.attributes.extend(attributes);
        field.doc = doc.or(field.doc);
        Ok(Arm { labels, field: Some(field), span: start })
    }

    /// `pipe type`
    fn pipe(&mut self) -> Result<SpecifierKind> {
        let span = self.advance();
        let message = "a pipe (C706, section 4.2.14) is outside what Nearcall maps";
        let finding = Diagnostic::new(&rules::PIPE, span, message)
            .help("write `[feed]` before a parameter or operation of the items' type");
        self.report(finding);
        self.nested(Parser::specifier)?;
        Ok(SpecifierKind::Outside)
    }

    fn is_bitmap(&self) -> bool {
        self.is_at(self.at + 1, "{") || self.is_at(self.at + 2, "{")
    }

    /// `bitmap { A = 1, B = 2 }`
    fn bitmap_of_pidl(&mut self) -> Result<SpecifierKind> {
        let span = self.span();
        let message = "`bitmap` is of Samba's pidl";
        let finding = Diagnostic::new(&rules::PIDL, span, message)
            .help("declare an integer type with `typedef`, and a constant for each bit");
        self.report(finding);
        self.midl_enum()?;
        Ok(SpecifierKind::Outside)
    }

    /// `interface name *`, `SAFEARRAY(type)`: types of COM.
    fn interface_pointer(&mut self) -> Result<SpecifierKind> {
        let what = self.word().unwrap_or_default().to_owned();
        let span = self.advance();
        let message =
            format!("a type of COM begins with `{what}`, and is outside what Nearcall maps");
        let finding = Diagnostic::new(&rules::COM, span, message)
            .help("pass the name under which the client imports it, or what identifies the thing");
        self.report(finding);
        if self.is("(") {
            self.skipped_arguments()?;
        } else {
            self.any_name("an interface")?;
        }
        Ok(SpecifierKind::Outside)
    }
}

/// Attributes whose argument is a type.
fn takes_type(attribute: &str) -> bool {
    attribute == "switch_type"
}

/// Attributes whose arguments are values that mean something here.
fn takes_values(attribute: &str) -> bool {
    let is_known = matches!(
        attribute,
        "case"
            | "length_is"
            | "last_is"
            | "max_is"
            | "pointer_default"
            | "range"
            | "size_is"
            | "switch_is"
            | "uuid"
            | "version"
    );
    is_known || OWN.contains(&attribute) || attribute == "prealloc_client"
}

/// The words of an integer or character type so far.
#[derive(Default)]
struct BaseWords {
    is_signed: bool,
    is_unsigned: bool,
    longs: u32,
    is_int: bool,
    size: Option<&'static str>,
    is_double: bool,
}

impl BaseWords {
    /// Takes a word in if it can be one of these.
    fn take(&mut self, word: &str) -> bool {
        let size = [
            "char",
            "small",
            "short",
            "hyper",
            "__int8",
            "__int16",
            "__int32",
            "__int64",
            "__int3264",
        ];
        match word {
            "signed" if !self.is_signed && !self.is_unsigned => self.is_signed = true,
            "unsigned" if !self.is_signed && !self.is_unsigned => self.is_unsigned = true,
            "int" if !self.is_int => self.is_int = true,
            "long" if self.longs < 2 && self.size.is_none() => self.longs += 1,
            "double" if self.longs == 1 && !self.is_double => self.is_double = true,
            _ => match size.into_iter().find(|size| *size == word) {
                Some(size) if self.size.is_none() && self.longs == 0 => self.size = Some(size),
                _ => return false,
            },
        }
        true
    }

    fn primitive(&self) -> Option<Primitive> {
        let pick = |signed, unsigned| Some(if self.is_unsigned { unsigned } else { signed });
        match (self.size, self.longs) {
            (Some("char"), _) => match (self.is_signed, self.is_unsigned) {
                (false, false) => Some(Primitive::Char),
                _ => pick(Primitive::Int8, Primitive::Uint8),
            },
            (Some("small" | "__int8"), _) => pick(Primitive::Int8, Primitive::Uint8),
            (Some("short" | "__int16"), _) => pick(Primitive::Int16, Primitive::Uint16),
            (Some("__int32"), _) => pick(Primitive::Int32, Primitive::Uint32),
            (Some(_), _) | (None, 2) => pick(Primitive::Int64, Primitive::Uint64),
            (None, 1) if self.is_double => Some(Primitive::LongDouble),
            (None, 1) => pick(Primitive::Int32, Primitive::Uint32),
            _ if self.is_int || self.is_signed || self.is_unsigned => {
                pick(Primitive::Int32, Primitive::Uint32)
            }
            _ => None,
        }
    }
}
