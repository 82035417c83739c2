//! Messages: which value goes where, both ways.

use std::collections::TryReserveError;

use nearcall::OpaqueIn;
use nearcall::raw::{
    self, DescriptorKind, Incoming, MESSAGE_BYTES_MAX, Malformed, Room, UNBOUNDED, check_received,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyByteArray, PyBytes, PyString};
use send_wrapper::SendWrapper;
use smallvec::{SmallVec, smallvec};

use crate::descriptor::{Came, Descriptor, Passed};
use crate::feed::Batch;
use crate::read::{self, Reader, Unread, check_text};
use crate::table::{Form, Kind, Message, Numbers, Part, Place, Table, Type};
use crate::view::{Lent, View};
use crate::words::wrong_type;
use crate::write::{self, Writer, check_bound, check_class};
use crate::wrong::Wrong;

/// The bytes of a message until they are put on an A-stack.
pub struct Filled {
    pub fixed: Fixed,
    pub payloads: SmallVec<[Payload; 4]>,
    /// What the server writes in place.
    pub lent: Option<View>,
    /// What goes beside it.
    pub passed: Vec<Passed>,
}

/// The fixed part: most are short.
pub type Fixed = SmallVec<[u8; 64]>;

/// One payload.
pub enum Payload {
    /// Made for the message.
    Made(Vec<u8>),
    /// Where it lies.
    Lying(View),
    /// Text where it lies.
    Text(PyBackedStr),
    /// Where the server sees it already.
    Lent(Py<Lent>),
}

/// Who writes a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    /// A client that posts: what is lent in place would have to stay as it is until somebody
    /// collects, so it is copied like any other argument.
    Posting,
    Server,
}

impl Payload {
    /// What is copied, or what says where it is lent.
    pub fn argument(&self) -> OpaqueIn<'_> {
        match self {
            Payload::Made(bytes) => OpaqueIn::from(bytes),
            Payload::Lying(view) => OpaqueIn::from(view.bytes()),
            Payload::Text(text) => OpaqueIn::from(text.as_bytes()),
            Payload::Lent(lent) => lent.get().argument(),
        }
    }
}

impl Filled {
    fn pass(
        &mut self,
        value: &Bound<'_, PyAny>,
        named: (&'static str, DescriptorKind),
        presence_at: Option<usize>,
        side: Side,
    ) -> Result<(), Wrong> {
        if let (Some(at), true) = (presence_at, value.is_none()) {
            self.fixed[at] = 0;
            self.passed.push(Passed::absent(named));
            return Ok(());
        }
        let passed = match side {
            Side::Client | Side::Posting => Passed::of(value, named)?,
            Side::Server => Passed::returned(value, named)?,
        };
        self.passed.push(match presence_at {
            Some(at) => {
                self.fixed[at] = 1;
                passed.or_none()
            }
            None => passed,
        });
        Ok(())
    }

    /// Copies of what is the caller's, for [`Filled::into_own`]: long ones take a while, in which
    /// other threads of Python's run.
    ///
    /// # Errors: there is no memory for one.
    pub fn copies(&self) -> Result<Vec<Vec<u8>>, TryReserveError> {
        let lying = self.payloads.iter().filter_map(|payload| match payload {
            Payload::Lying(view) => Some(view.bytes()),
            _ => None,
        });
        lying
            .map(|bytes| {
                let mut copy = Vec::new();
                copy.try_reserve_exact(bytes.len())?;
                copy.extend_from_slice(bytes);
                Ok(copy)
            })
            .collect()
    }

    /// Nothing of it is the caller's to change any more: it has these copies in place of that.
    pub fn into_own(self, copies: Vec<Vec<u8>>) -> Filled {
        let mut copies = copies.into_iter();
        let own = |payload| match payload {
            Payload::Lying(view) => copies.next().map_or(Payload::Lying(view), Payload::Made),
            payload => payload,
        };
        Filled { payloads: self.payloads.into_iter().map(own).collect(), ..self }
    }

    /// Bytes of the variable part: each payload is padded to 8.
    pub fn variable_bytes(&self) -> u64 {
        self.payloads.iter().map(|payload| payload.argument().payload_bytes()).sum()
    }
}

/// Writes a message from the values of its parts.
pub fn fill<'v, 'py: 'v>(
    message: &Message,
    table: &Table,
    side: Side,
    values: impl Iterator<Item = Borrowed<'v, 'py, PyAny>>,
) -> Result<Filled, (Wrong, &'static str)> {
    let fixed = smallvec![0; message.fixed_bytes];
    let payloads = SmallVec::new();
    let mut filled = Filled { fixed, payloads, lent: None, passed: Vec::new() };
    let mut first = None;
    for (part, value) in message.parts.iter().zip(values) {
        let put = match part.place {
            Place::Descriptor { kind, presence_at } => {
                filled.pass(&value, (part.name, kind), presence_at, side)
            }
            // Whatever is wrong, descriptors that were handed over are taken, and so closed.
            _ if first.is_some() => continue,
            _ => {
                let mut filler = Filler { table, side, filled: &mut filled };
                filler.put(&value, &part.declared, &part.place)
            }
        };
        if let Err(wrong) = put {
            first.get_or_insert((wrong, part.name));
        }
    }
    filled.passed.sort_by_key(|passed| passed.is_optional);
    first.map_or(Ok(filled), Err)
}

/// Fills one part.
struct Filler<'f> {
    table: &'f Table,
    side: Side,
    filled: &'f mut Filled,
}

impl Filler<'_> {
    fn put(
        &mut self,
        value: &Bound<'_, PyAny>,
        declared: &Type,
        place: &Place,
    ) -> Result<(), Wrong> {
        match place {
            Place::Word { at } => {
                write::word(value, declared, self.table, &mut self.filled.fixed[*at..])
            }
            Place::Image { at, bytes } => {
                let image = self.marshalled(value, declared)?;
                if image.len() != *bytes {
                    return Err(Wrong::bound(image.len(), *bytes));
                }
                self.filled.fixed[*at..*at + bytes].copy_from_slice(&image);
                Ok(())
            }
            Place::Payload { at, form } => self.payload(value, declared, (*at, *form)),
            Place::Members(places) => self.members(value, declared, places),
            // Only whole parts are, and they are passed.
            Place::Descriptor { .. } => Err(wrong_type(value, "a value of a message")),
        }
    }

    fn members(
        &mut self,
        value: &Bound<'_, PyAny>,
        declared: &Type,
        places: &[Place],
    ) -> Result<(), Wrong> {
        let Type::Declared(row) = declared else {
            return Err(wrong_type(value, "a struct"));
        };
        let declared = &self.table[*row];
        let Kind::Struct { members, .. } = &declared.kind else {
            return Err(wrong_type(value, "a struct"));
        };
        check_class(value, declared.class.bind(value.py()))?;
        for (member, place) in members.iter().zip(places) {
            let inner = value.getattr(&member.name)?;
            let put = self.put(&inner, &member.declared, place);
            put.map_err(|wrong| wrong.of_member(value.py(), member.label))?;
        }
        Ok(())
    }

    fn marshalled(&self, value: &Bound<'_, PyAny>, declared: &Type) -> Result<Vec<u8>, Wrong> {
        let mut writer = Writer::new(self.table);
        writer.value(value, declared)?;
        Ok(writer.bytes)
    }

    fn payload(
        &mut self,
        value: &Bound<'_, PyAny>,
        declared: &Type,
        (at, form): (usize, Form),
    ) -> Result<(), Wrong> {
        let (length, payload) = match (form, declared) {
            (_, Type::Items { bound, .. }) => {
                let batch = value.cast::<Batch>().map_err(|_| wrong_type(value, "a batch"))?;
                batch.get().payload(form, *bound)?
            }
            (Form::Text, _) => {
                write::text(value, declared)?;
                let text: PyBackedStr = value.extract()?;
                (text.len(), Payload::Text(text))
            }
            (Form::Octets | Form::Lent, Type::Octets { bound }) => {
                match value.cast::<Lent>().ok().filter(|_| form == Form::Lent) {
                    Some(lent) if self.side == Side::Client => {
                        let bytes = lent.get().argument().len();
                        check_bound(bytes, *bound)?;
                        (bytes, Payload::Lent(lent.clone().unbind()))
                    }
                    _ => {
                        let view = write::octets(value, *bound)?;
                        (view.bytes().len(), Payload::Lying(view))
                    }
                }
            }
            (Form::Elements, Type::Numbers { numbers, bound }) => {
                self.numbers(value, numbers, *bound)?
            }
            (Form::Elements, Type::Sequence { element, bound }) => {
                let items = write::items(value)?;
                check_bound(items.len(), *bound)?;
                let mut writer = Writer::new(self.table);
                writer.elements(&items, element)?;
                (items.len(), Payload::Made(writer.bytes))
            }
            _ => {
                let bytes = self.marshalled(value, declared)?;
                (bytes.len(), Payload::Made(bytes))
            }
        };
        let bytes = payload.argument().len();
        if bytes > MESSAGE_BYTES_MAX as usize {
            return Err(Wrong::bound(bytes, MESSAGE_BYTES_MAX as usize));
        }
        let word = match &payload {
            Payload::Lent(lent) => lent.get().argument().length_word(),
            _ => length as u32,
        };
        self.filled.fixed[at..at + 4].copy_from_slice(&word.to_le_bytes());
        match payload {
            Payload::Lying(view) if form == Form::Lent && self.side == Side::Server => {
                self.filled.lent = Some(view);
            }
            payload => self.filled.payloads.push(payload),
        }
        Ok(())
    }

    fn numbers(
        &self,
        value: &Bound<'_, PyAny>,
        numbers: &Numbers,
        bound: u32,
    ) -> Result<(usize, Payload), Wrong> {
        if let Some(view) = write::view_of_numbers(value, numbers, true)? {
            let count = view.shape()[0];
            check_bound(count, bound)?;
            return Ok((count, Payload::Lying(view)));
        }
        let mut writer = Writer::new(self.table);
        let count = writer.numbers(value, numbers, bound)?;
        Ok((count as usize, Payload::Made(writer.bytes)))
    }
}

/// Reads the values of a message. `fixed` is a private copy of the fixed part; `came` are the
/// descriptors beside it, as many as it has.
pub fn values<'py>(
    py: Python<'py>,
    message: &Message,
    table: &Table,
    fixed: &[u8],
    incoming: Option<Incoming<'_>>,
    came: Vec<Came>,
) -> Result<SmallVec<[Bound<'py, PyAny>; 4]>, Unread> {
    let mut taker = Taker { py, table, fixed, incoming, came: came.into_iter() };
    let read = |taker: &mut Taker<'_, 'py>, part: &Part| taker.get(&part.declared, &part.place);
    let lent = match message.lent {
        Some(index) => Some(read(&mut taker, &message.parts[index])?),
        None => None,
    };
    let mut values = SmallVec::new();
    for (part, index) in message.parts.iter().zip(0..) {
        values.push(match &lent {
            Some(lent) if message.lent == Some(index) => lent.clone(),
            _ => read(&mut taker, part)?,
        });
    }
    Ok(values)
}

/// Reads one part after the other.
struct Taker<'m, 'py> {
    py: Python<'py>,
    table: &'m Table,
    fixed: &'m [u8],
    incoming: Option<Incoming<'m>>,
    came: std::vec::IntoIter<Came>,
}

impl<'py> Taker<'_, 'py> {
    fn get(&mut self, declared: &Type, place: &Place) -> Result<Bound<'py, PyAny>, Unread> {
        match place {
            Place::Word { at } => read::word(self.py, declared, self.table, &self.fixed[*at..]),
            Place::Image { at, bytes } => self.parsed(&self.fixed[*at..*at + bytes], declared),
            Place::Payload { at, form } => {
                let mut length = [0; 4];
                length.copy_from_slice(&self.fixed[*at..*at + 4]);
                self.payload(declared, *form, u32::from_le_bytes(length))
            }
            Place::Descriptor { .. } => {
                match self.came.next().ok_or_else(|| Malformed::range(0u8))? {
                    Some(came) => Ok(Bound::new(self.py, Descriptor::new(came))?.into_any()),
                    None => Ok(self.py.None().into_bound(self.py)),
                }
            }
            Place::Members(places) => {
                let Type::Declared(row) = declared else {
                    return Err(Malformed::range(0u8).into());
                };
                let table = self.table;
                let Kind::Struct { members, .. } = &table[*row].kind else {
                    return Err(Malformed::range(0u8).into());
                };
                let pairs = members.iter().zip(places);
                let values = pairs.map(|(member, place)| self.get(&member.declared, place));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                Ok(table[*row].made(self.py, &values)?)
            }
        }
    }

    fn parsed(&self, bytes: &[u8], declared: &Type) -> Result<Bound<'py, PyAny>, Unread> {
        let mut reader = Reader::new(self.py, self.table, bytes);
        let value = reader.value(declared)?;
        reader.finish()?;
        Ok(value)
    }

    fn payload(
        &mut self,
        declared: &Type,
        form: Form,
        length: u32,
    ) -> Result<Bound<'py, PyAny>, Unread> {
        let py = self.py;
        let Some(incoming) = &mut self.incoming else {
            return Err(Malformed::Length { claimed: length.into(), limit: 0 }.into());
        };
        match (form, declared) {
            (Form::Text, _) => {
                let bound = if let Type::Text { bound } = declared { *bound } else { UNBOUNDED };
                let mut room = Room::new();
                wait_detached(py, incoming)?;
                let text = incoming.text(length, bound, &mut room)?;
                let text = check_text(text.as_bytes(), declared)?;
                Ok(PyString::new(py, text).into_any())
            }
            (Form::Octets, Type::Octets { bound }) => {
                let is_behind = incoming.is_behind();
                let payload = incoming.payload(length, *bound)?;
                octets(py, payload.len(), |target| copy_out(py, is_behind, &payload, target))
            }
            (Form::Lent, Type::Octets { bound }) => {
                wait_detached(py, incoming)?;
                let opaque = incoming.lend(length, *bound)?;
                octets(py, opaque.len(), |target: &mut [u8]| {
                    opaque.copy_to(0, target);
                    Ok(())
                })
            }
            (Form::Elements, Type::Numbers { numbers, bound }) => {
                let bytes = element_bytes(length, *bound, numbers.width)?;
                let is_behind = incoming.is_behind();
                let payload = incoming.payload(bytes, UNBOUNDED)?;
                let copy = |target: &mut [u8]| {
                    copy_out(py, is_behind, &payload, target)?;
                    read::check_numbers(target, numbers)
                };
                let memory = made(payload.len(), copy, |bytes, copy| {
                    PyByteArray::new_with(py, bytes, copy)
                })?;
                read::array(memory, numbers, Some(length as usize))
            }
            (
                Form::Elements | Form::Octets,
                Type::Sequence { element, bound } | Type::Items { element, bound },
            ) => {
                let width = element.fixed_bytes(self.table).unwrap_or(1);
                let bytes = element_bytes(length, *bound, width)?;
                let mut room = Room::new();
                wait_detached(py, incoming)?;
                let bytes = incoming.bytes(bytes, UNBOUNDED, &mut room)?;
                let mut reader = Reader::new(py, self.table, &bytes);
                let list = reader.list(length as usize, element)?;
                reader.finish()?;
                Ok(list)
            }
            _ => {
                let mut room = Room::new();
                wait_detached(py, incoming)?;
                let bytes = incoming.bytes(length, UNBOUNDED, &mut room)?;
                self.parsed(&bytes, declared)
            }
        }
    }
}

/// Bytes of so many elements, judged.
fn element_bytes(count: u32, bound: u32, width: usize) -> Result<u32, Malformed> {
    check_received(count as usize, bound)?;
    let claimed = u64::from(count) * width as u64;
    let limit = MESSAGE_BYTES_MAX.into();
    u32::try_from(claimed).map_err(|_| Malformed::Length { claimed, limit })
}

/// Waits for what the client copies still, and has other threads of this program run meanwhile: a
/// client that stops would stop all of them.
fn wait_detached(py: Python<'_>, incoming: &Incoming<'_>) -> Result<(), Malformed> {
    match incoming.is_behind() {
        true => detached(py, || incoming.wait_for_all()),
        false => Ok(()),
    }
}

/// Copies a payload, beside its client where that copies it still: then as above.
fn copy_out(
    py: Python<'_>,
    is_behind: bool,
    payload: &raw::Payload<'_>,
    target: &mut [u8],
) -> Result<(), Malformed> {
    match is_behind {
        true => detached(py, || payload.copy_out(target)),
        false => payload.copy_out(target),
    }
}

/// Without the interpreter's lock, on this thread.
fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T) -> T {
    let work = SendWrapper::new(work);
    py.detach(move || work.take()())
}

fn octets<'py>(
    py: Python<'py>,
    bytes: usize,
    copy: impl FnOnce(&mut [u8]) -> Result<(), Malformed>,
) -> Result<Bound<'py, PyAny>, Unread> {
    let made = made(bytes, copy, |bytes, copy| PyBytes::new_with(py, bytes, copy))?;
    Ok(made.into_any())
}

/// Copies straight into the memory of a new object.
fn made<'c, T>(
    bytes: usize,
    copy: impl FnOnce(&mut [u8]) -> Result<(), Malformed> + 'c,
    make: impl FnOnce(usize, &mut dyn FnMut(&mut [u8]) -> PyResult<()>) -> PyResult<T>,
) -> Result<T, Unread> {
    let mut malformed = None;
    let mut copy = Some(copy);
    let mut once = |target: &mut [u8]| match copy.take().map(|copy| copy(target)) {
        Some(Err(found)) => {
            malformed = Some(found);
            Err(PyRuntimeError::new_err("malformed"))
        }
        _ => Ok(()),
    };
    let object = make(bytes, &mut once);
    match malformed {
        Some(malformed) => Err(malformed.into()),
        None => Ok(object?),
    }
}
