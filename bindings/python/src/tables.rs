//! Reading the tables of a generated module, once, when it is imported. A table that does not hold
//! together is refused here, so that no call can trip over it.

use std::collections::HashMap;
use std::sync::Arc;

use nearcall::raw::{DescriptorKind, MESSAGE_BYTES_MAX, UNBOUNDED};
use nearcall::{AStackClass, AppendableDescriptor, InterfaceDescriptor, ProcedureDescriptor};
use nearcall_abi::message::CLASSES_MAX;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

use crate::descriptor::Descriptors;
use crate::table::{
    Declared, Field, Form, Kind, Member, Message, Numbers, Part, Place, Plan, Procedure, Range,
    Rest, Role, Table, Type,
};
use crate::words::{Number, Word};

/// Bytes of a message in the head line.
const INLINE_BYTES: usize = nearcall_abi::INLINE_BYTES as usize;

/// Most descriptors that go with a message.
const DESCRIPTORS_MAX: usize = 8;

/// Bytes of a length.
const LENGTH_BYTES: usize = 4;

/// The table of types of a module.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Types {
    table: Arc<Table>,
}

/// The plan of an interface.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Interface {
    pub plan: Arc<Plan>,
}

#[pymethods]
impl Types {
    #[new]
    fn new(rows: &Bound<'_, PyTuple>) -> PyResult<Types> {
        let rows = rows.iter().map(|row| declared(row.cast::<PyTuple>()?));
        Ok(Types { table: Arc::new(rows.collect::<PyResult<Table>>()?) })
    }
}

#[pymethods]
impl Interface {
    #[new]
    #[pyo3(signature = (types, name, hash, classes, procedures, feeds=None, appendables=None))]
    fn new(
        types: &Types,
        name: &str,
        hash: &str,
        classes: Vec<(u32, u32)>,
        procedures: &Bound<'_, PyTuple>,
        feeds: Option<&Bound<'_, PyTuple>>,
        appendables: Option<&Bound<'_, PyTuple>>,
    ) -> PyResult<Interface> {
        if classes.is_empty() || classes.len() > CLASSES_MAX {
            return Err(refused("A-stack classes", classes.len()));
        }
        let classes: Vec<AStackClass> = classes
            .into_iter()
            .map(|(block_bytes, count)| AStackClass { block_bytes, count })
            .collect();
        let (mut descriptors, mut plans) = (Vec::new(), Vec::new());
        for row in procedures.iter() {
            let (descriptor, plan) = procedure(row.cast::<PyTuple>()?, &types.table, &classes)?;
            descriptors.push(descriptor);
            plans.push(plan);
        }
        for feed in feeds.into_iter().flatten() {
            crate::feed_tables::connect(feed.cast::<PyTuple>()?, &mut plans)?;
        }
        if let Some(plan) = plans.iter().find(|plan| !plan.is_whole()) {
            return Err(refused("a feed without", plan.name));
        }
        let appendables = appendables.into_iter().flatten();
        let appendables = appendables.map(|row| appendable(row.cast::<PyTuple>()?));
        let appendables = appendables.collect::<PyResult<Vec<_>>>()?;
        // An interface is there for as long as its module is, which is never unloaded.
        let descriptor = Box::leak(Box::new(InterfaceDescriptor {
            name: leaked(name),
            hash: hash_of(hash)?,
            procedures: descriptors.leak(),
            classes: classes.leak(),
            appendables: appendables.leak(),
        }));
        let table = Arc::clone(&types.table);
        Ok(Interface { plan: Arc::new(Plan { descriptor, procedures: plans, table }) })
    }

    /// The interface's name.
    #[getter]
    fn name(&self) -> &'static str {
        self.plan.descriptor.name
    }

    fn __repr__(&self) -> String {
        format!("<nearcall.Interface {}>", self.name())
    }
}

pub fn refused(what: &str, found: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("not a table of the compiler: {what} {found}"))
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn hash_of(digits: &str) -> PyResult<[u8; 16]> {
    let number = u128::from_str_radix(digits, 16);
    let number = number.map_err(|_| refused("hash", digits))?;
    Ok(number.to_be_bytes())
}

/// The element of a tuple, as whatever is wanted.
pub fn at<'py, T>(tuple: &Bound<'py, PyTuple>, index: usize) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    tuple.get_item(index)?.extract().map_err(Into::into)
}

fn inner<'py>(tuple: &Bound<'py, PyTuple>, index: usize) -> PyResult<Bound<'py, PyTuple>> {
    Ok(tuple.get_item(index)?.cast_into::<PyTuple>()?)
}

fn word(tuple: &Bound<'_, PyTuple>, index: usize) -> PyResult<Word> {
    let code: String = at(tuple, index)?;
    Word::of(&code).ok_or_else(|| refused("word", code))
}

fn appendable(row: &Bound<'_, PyTuple>) -> PyResult<AppendableDescriptor> {
    let (name, procedure): (String, u32) = (at(row, 0)?, at(row, 1)?);
    let hashes = inner(row, 2)?;
    let hashes = hashes.iter().map(|digits| hash_of(&digits.extract::<String>()?));
    let hashes = hashes.collect::<PyResult<Vec<_>>>()?;
    Ok(AppendableDescriptor { name: leaked(&name), procedure, hashes: hashes.leak() })
}

fn declared(row: &Bound<'_, PyTuple>) -> PyResult<Declared> {
    let (code, class): (String, Py<PyAny>) = (at(row, 0)?, at(row, 1)?);
    let kind = match code.as_str() {
        "struct" | "appendable" => {
            let is_appendable = code == "appendable";
            let members = inner(row, 2)?;
            let members = members.iter().map(|member| {
                let member = member.cast_into::<PyTuple>()?;
                let label = leaked(&at::<String>(&member, 0)?);
                let declared = used(&member.get_item(1)?)?;
                let missing = if is_appendable { at(&member, 2)? } else { Vec::new() };
                let name = PyString::intern(row.py(), label).unbind();
                Ok(Member { name, label, declared, missing })
            });
            Kind::Struct { members: members.collect::<PyResult<_>>()?, is_appendable }
        }
        "union" => union(row, None)?,
        "oneof" => union(row, Some(at(row, 5)?))?,
        "enum" => {
            let mut values = HashMap::new();
            for value in class.bind(row.py()).try_iter()? {
                let value = value?;
                values.insert(value.extract::<i64>()?.into(), value.unbind());
            }
            let stand_in = if row.len() > 4 { Some(at::<i64>(row, 4)?.into()) } else { None };
            if let Some(one) = stand_in.filter(|one: &i128| !values.contains_key(one)) {
                return Err(refused("enumerator", one));
            }
            Kind::Enum { word: word(row, 2)?, values, allowed: at(row, 3)?, stand_in }
        }
        "bitmask" => Kind::Bitmask { word: word(row, 2)?, bits: at(row, 3)? },
        "bitset" => {
            let fields = inner(row, 3)?;
            let fields = fields.iter().map(|field| {
                let field = field.cast_into::<PyTuple>()?;
                let label = leaked(&at::<String>(&field, 0)?);
                let (position, width): (u32, u32) = (at(&field, 1)?, at(&field, 2)?);
                if width == 0 || position + width > 64 {
                    return Err(refused("bits", width));
                }
                let (word, name) = (word(&field, 3)?, PyString::intern(row.py(), label).unbind());
                Ok(Field { name, label, position, width, word })
            });
            Kind::Bitset { word: word(row, 2)?, fields: fields.collect::<PyResult<_>>()? }
        }
        other => return Err(refused("kind", other)),
    };
    let is_by_name = match &kind {
        Kind::Struct { members, .. } => takes_by_name(class.bind(row.py()), members.len()),
        _ => false,
    };
    Ok(Declared { class, kind, is_by_name })
}

/// Does a dataclass of so many members take some by name only?
fn takes_by_name(class: &Bound<'_, PyAny>, count: usize) -> bool {
    let in_order = class.getattr("__match_args__").and_then(|names| names.len());
    in_order.is_ok_and(|in_order| in_order < count)
}

fn union(row: &Bound<'_, PyTuple>, oneof: Option<String>) -> PyResult<Kind> {
    let discriminator = used(&row.get_item(2)?)?;
    let (mut cases, mut labels) = (Vec::new(), HashMap::new());
    for case in inner(row, 3)?.iter() {
        let case = case.cast_into::<PyTuple>()?;
        for label in at::<Vec<i128>>(&case, 0)? {
            labels.insert(label, cases.len());
        }
        cases.push(used(&case.get_item(1)?)?);
    }
    let rest = match at::<Option<i64>>(row, 4)? {
        None => Rest::Covered,
        Some(-1) => Rest::Nothing,
        Some(case) if (case as usize) < cases.len() => Rest::Case(case as usize),
        Some(case) => return Err(refused("case", case)),
    };
    Ok(Kind::Union { discriminator, cases, labels, rest, oneof })
}

/// A type as it is used. Rows are checked when a call has one: a type may name a later row.
fn used(expression: &Bound<'_, PyAny>) -> PyResult<Type> {
    if let Ok(row) = expression.cast::<PyInt>() {
        return Ok(Type::Declared(row.extract()?));
    }
    if let Ok(code) = expression.cast::<PyString>() {
        let code = code.to_str()?;
        return match (code, Word::of(code)) {
            (_, Some(word)) => Ok(Type::Word(word)),
            ("extended", None) => Ok(Type::Extended),
            _ => Err(refused("type", code)),
        };
    }
    let tuple = expression.cast::<PyTuple>()?;
    let code: String = at(tuple, 0)?;
    let bound = |index| Ok::<u32, PyErr>(at::<Option<u32>>(tuple, index)?.unwrap_or(UNBOUNDED));
    let boxed = |index| Ok::<_, PyErr>(Box::new(used(&tuple.get_item(index)?)?));
    Ok(match code.as_str() {
        "string" => Type::Text { bound: bound(1)? },
        "wstring" => Type::WideText { bound: bound(1)? },
        "sequence" => {
            let (element, bound) = (tuple.get_item(1)?, bound(2)?);
            match numbers(&element)? {
                _ if is_octet(&element) => Type::Octets { bound },
                Some(numbers) => Type::Numbers { numbers, bound },
                None => Type::Sequence { element: boxed(1)?, bound },
            }
        }
        "items" => {
            let bound = at::<u32>(tuple, 2)?;
            Type::Items { element: boxed(1)?, bound }
        }
        "array" => array(tuple)?,
        "map" => Type::Map { key: boxed(1)?, value: boxed(2)?, bound: bound(3)? },
        "optional" => Type::Optional(boxed(1)?),
        "boxed" => Type::Boxed(boxed(1)?),
        "range" => Type::Ranged { inner: boxed(1)?, range: range(tuple)? },
        other => return Err(refused("type", other)),
    })
}

fn array(tuple: &Bound<'_, PyTuple>) -> PyResult<Type> {
    let dimensions: Vec<usize> = at(tuple, 2)?;
    let element = tuple.get_item(1)?;
    if let ([count], true) = (dimensions.as_slice(), is_octet(&element)) {
        return Ok(Type::OctetArray { count: *count });
    }
    if let Some(numbers) = numbers(tuple.as_any())? {
        return Ok(Type::NumberArray { numbers });
    }
    let element = used(&element)?;
    Ok(dimensions
        .into_iter()
        .rev()
        .fold(element, |element, count| Type::Array { element: Box::new(element), count }))
}

fn is_octet(expression: &Bound<'_, PyAny>) -> bool {
    expression.extract::<String>().is_ok_and(|code| code == "octet")
}

fn range(tuple: &Bound<'_, PyTuple>) -> PyResult<Range> {
    let end = |index| {
        let end = tuple.get_item(index)?;
        Ok::<_, PyErr>(match end.cast::<PyInt>() {
            _ if end.is_none() => None,
            Ok(_) => Some(Number::Integer(end.extract()?)),
            Err(_) => Some(Number::Float(end.extract()?)),
        })
    };
    Ok(Range { least: end(2)?, greatest: end(3)?, allowed: at(tuple, 4)? })
}

/// The numbers that this is, or an array of; `None` if it is no such thing.
fn numbers(expression: &Bound<'_, PyAny>) -> PyResult<Option<Numbers>> {
    if let Ok(code) = expression.extract::<String>() {
        let word = Word::of(&code);
        let number = word.and_then(|word| Some((word, word.dtype()?)));
        return Ok(number.map(|(word, dtype)| Numbers {
            word,
            dtype,
            dimensions: Vec::new(),
            width: word.bytes(),
            ranges: Vec::new(),
        }));
    }
    let Ok(tuple) = expression.cast::<PyTuple>() else {
        return Ok(None);
    };
    let code: String = at(tuple, 0)?;
    if code != "array" && code != "range" {
        return Ok(None);
    }
    let Some(mut numbers) = numbers(&tuple.get_item(1)?)? else {
        return Ok(None);
    };
    if code == "range" {
        numbers.ranges.push(range(tuple)?);
        return Ok(Some(numbers));
    }
    let mut dimensions: Vec<usize> = at(tuple, 2)?;
    let width = dimensions.iter().try_fold(numbers.width, |width, one| width.checked_mul(*one));
    let width = width.filter(|width| *width <= MESSAGE_BYTES_MAX as usize);
    numbers.width = width.ok_or_else(|| refused("array of elements", dimensions.len()))?;
    dimensions.append(&mut numbers.dimensions);
    numbers.dimensions = dimensions;
    Ok(Some(numbers))
}

fn procedure(
    row: &Bound<'_, PyTuple>,
    table: &Table,
    classes: &[AStackClass],
) -> PyResult<(ProcedureDescriptor, Procedure)> {
    let (name, hash): (String, String) = (at(row, 0)?, at(row, 1)?);
    let class: u8 = at(row, 2)?;
    let (is_oneway, is_idempotent, is_leaf) = (at(row, 3)?, at(row, 4)?, at(row, 5)?);
    let name = leaked(&name);
    let block = classes.get(usize::from(class)).ok_or_else(|| refused("class", class))?;
    let capacity = INLINE_BYTES + block.block_bytes as usize;
    let function: Option<String> = at(row, 6)?;
    let read = |index| message(&inner(row, index)?, table, capacity);
    let (request, mut reply) = (read(7)?, read(8)?);
    reply.lent = reply.parts.iter().position(is_lent);
    let raised = inner(row, 9)?;
    let raised = raised.iter().map(|one| {
        let one = one.cast_into::<PyTuple>()?;
        let exception: usize = at(&one, 0)?;
        check_row(exception, table)?;
        Ok((exception, message(&inner(&one, 1)?, table, capacity)?))
    });
    let raised = raised.collect::<PyResult<Vec<_>>>()?;
    let hash = hash_of(&hash)?;
    let descriptor = ProcedureDescriptor { name, hash, class, is_oneway, is_idempotent, is_leaf };
    let function = function.map(|name| PyString::intern(row.py(), &name).unbind());
    let procedure = Procedure {
        name,
        function,
        role: Role::Plain,
        class: class.into(),
        is_oneway,
        is_retried: is_idempotent && !is_oneway,
        request,
        reply,
        raised,
    };
    Ok((descriptor, procedure))
}

fn message(tuple: &Bound<'_, PyTuple>, table: &Table, capacity: usize) -> PyResult<Message> {
    let (fixed_bytes, variable_at): (usize, usize) = (at(tuple, 0)?, at(tuple, 1)?);
    if fixed_bytes > capacity || variable_at > capacity || !variable_at.is_multiple_of(8) {
        return Err(refused("bytes of the fixed part", fixed_bytes));
    }
    let mut parts = Vec::new();
    for part in inner(tuple, 2)?.iter() {
        let part = part.cast_into::<PyTuple>()?;
        let name = leaked(&at::<String>(&part, 0)?);
        let declared = used(&part.get_item(1)?)?;
        check(&declared, table, 0)?;
        let place = part_place(&inner(&part, 2)?, &declared, table, fixed_bytes)?;
        parts.push(Part { name, declared, place });
    }
    let descriptors = Descriptors::of(&parts);
    if descriptors.count() > DESCRIPTORS_MAX {
        return Err(refused("descriptors", descriptors.count()));
    }
    let has_payloads = parts.iter().any(|part| part.place.has_payload());
    // What is lent is never in the head line: it lies in one piece.
    if parts.iter().any(is_lent) && variable_at < INLINE_BYTES {
        return Err(refused("lent bytes at", variable_at));
    }
    Ok(Message { fixed_bytes, variable_at, parts, lent: None, has_payloads, descriptors })
}

fn is_lent(part: &Part) -> bool {
    matches!(part.place, Place::Payload { form: Form::Lent, .. })
}

fn check_row(row: usize, table: &Table) -> PyResult<()> {
    table.get(row).map(|_| ()).ok_or_else(|| refused("row", row))
}

/// Every row that a type names is there.
fn check(declared: &Type, table: &Table, depth: usize) -> PyResult<()> {
    match declared {
        Type::Declared(row) => {
            check_row(*row, table)?;
            // A type that holds itself was seen whole long before.
            if depth > table.len() {
                return Ok(());
            }
            match &table[*row].kind {
                Kind::Struct { members, .. } => {
                    let mut all = members.iter().map(|member| &member.declared);
                    all.try_for_each(|inner| check_direct(inner, table))
                }
                Kind::Union { discriminator, cases, .. } => {
                    let mut all = cases.iter().chain([discriminator]);
                    all.try_for_each(|inner| check_direct(inner, table))
                }
                Kind::Enum { .. } | Kind::Bitmask { .. } | Kind::Bitset { .. } => Ok(()),
            }
        }
        other => check_direct(other, table),
    }
}

/// The same, but rows are only looked for: each row was checked itself.
fn check_direct(declared: &Type, table: &Table) -> PyResult<()> {
    match declared {
        Type::Declared(row) => check_row(*row, table),
        Type::Sequence { element, .. }
        | Type::Array { element, .. }
        | Type::Items { element, .. }
        | Type::Optional(element)
        | Type::Boxed(element)
        | Type::Ranged { inner: element, .. } => check_direct(element, table),
        Type::Map { key, value, .. } => {
            check_direct(key, table).and_then(|()| check_direct(value, table))
        }
        _ => Ok(()),
    }
}

/// Where a whole part goes: members of one are never beside the message.
fn part_place(
    tuple: &Bound<'_, PyTuple>,
    declared: &Type,
    table: &Table,
    fixed_bytes: usize,
) -> PyResult<Place> {
    if at::<String>(tuple, 0)? != "descriptor" {
        return place(tuple, declared, table, fixed_bytes);
    }
    let code: String = at(tuple, 1)?;
    let kind = match code.as_str() {
        "any" => DescriptorKind::Any,
        "binding" => DescriptorKind::Binding,
        "file" => DescriptorKind::File,
        "segment" => DescriptorKind::Segment,
        "socket" => DescriptorKind::Socket,
        other => return Err(refused("kind of descriptor", other)),
    };
    let presence_at = match tuple.len() {
        3 => Some(at::<usize>(tuple, 2)?),
        _ => None,
    };
    match presence_at {
        Some(at) if at >= fixed_bytes => Err(refused("presence at", at)),
        _ => Ok(Place::Descriptor { kind, presence_at }),
    }
}

fn place(
    tuple: &Bound<'_, PyTuple>,
    declared: &Type,
    table: &Table,
    fixed_bytes: usize,
) -> PyResult<Place> {
    let code: String = at(tuple, 0)?;
    if code == "members" {
        let Type::Declared(row) = declared else {
            return Err(refused("members of", "what is no struct"));
        };
        let Kind::Struct { members, .. } = &table[*row].kind else {
            return Err(refused("members of row", row));
        };
        let inner = inner(tuple, 1)?;
        if inner.len() != members.len() {
            return Err(refused("members", inner.len()));
        }
        let places = inner.iter().zip(members).map(|(inner, member)| {
            place(&inner.cast_into::<PyTuple>()?, &member.declared, table, fixed_bytes)
        });
        return Ok(Place::Members(places.collect::<PyResult<_>>()?));
    }
    let at_byte: usize = at(tuple, 1)?;
    let (place, bytes) = match code.as_str() {
        "word" => {
            let bytes = word_bytes(declared, table).ok_or_else(|| refused("word at", at_byte))?;
            (Place::Word { at: at_byte }, bytes)
        }
        "image" => {
            let bytes: usize = at(tuple, 2)?;
            (Place::Image { at: at_byte, bytes }, bytes)
        }
        code => {
            let form = form(code, declared, table).ok_or_else(|| refused("form", code))?;
            (Place::Payload { at: at_byte, form }, LENGTH_BYTES)
        }
    };
    match at_byte.checked_add(bytes).filter(|end| *end <= fixed_bytes) {
        Some(_) => Ok(place),
        None => Err(refused("place at", at_byte)),
    }
}

/// A form that values of this type can have.
fn form(code: &str, declared: &Type, table: &Table) -> Option<Form> {
    let form = match code {
        "text" => Form::Text,
        "octets" => Form::Octets,
        "lent" => Form::Lent,
        "elements" => Form::Elements,
        "marshalled" => return Some(Form::Marshalled),
        _ => return None,
    };
    let fits = match declared {
        Type::Text { .. } | Type::WideText { .. } => form == Form::Text,
        Type::Octets { .. } => matches!(form, Form::Octets | Form::Lent),
        Type::Numbers { .. } => form == Form::Elements,
        Type::Sequence { element, .. } => {
            form == Form::Elements && element.fixed_bytes(table).is_some()
        }
        Type::Items { element, .. } => {
            matches!(form, Form::Elements | Form::Octets) && element.fixed_bytes(table).is_some()
        }
        _ => false,
    };
    fits.then_some(form)
}

/// Bytes of a type that is one word.
pub fn word_bytes(declared: &Type, table: &Table) -> Option<usize> {
    match declared {
        Type::Word(word) => Some(word.bytes()),
        Type::Ranged { inner, .. } => word_bytes(inner, table),
        Type::Declared(row) => match &table[*row].kind {
            Kind::Enum { word, .. } | Kind::Bitmask { word, .. } | Kind::Bitset { word, .. } => {
                Some(word.bytes())
            }
            Kind::Struct { .. } | Kind::Union { .. } => None,
        },
        _ => None,
    }
}
