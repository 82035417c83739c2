//! The server's ends of feeds (docs/design/0020-streams.md): what procedures in Python return, as
//! the runtime asks it for items or gives it some.
//!
//! All feeds in Python are of the same types here. So every item says which procedure has opened
//! its feed, and a batch that is asked for as another one's is refused.

use std::sync::Arc;

use nearcall::Intake;
use nearcall::raw::{Arguments, Malformed};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyIterator, PyTuple};

use crate::feed::{Batch, append};
use crate::release::Made;
use crate::serve::{Unserved, malformed, refused};
use crate::table::{Plan, Role, Type};

/// What makes items.
struct Source {
    plan: Arc<Plan>,
    open: usize,
    next: usize,
    made: Made,
}

/// An item as it is sent, and what has opened its feed.
struct SentItem {
    open: usize,
    bytes: Vec<u8>,
}

/// Why there are no more items, and of which feed.
struct SourceOver {
    open: usize,
    why: Unserved,
}

/// What takes items.
struct Taker {
    open: usize,
    made: Made,
}

/// An item that came, and what its sender says has opened its feed.
struct CameItem {
    open: usize,
    item: Py<PyAny>,
}

/// What a taker makes of its items.
struct Taken {
    open: usize,
    answer: Py<PyAny>,
}

/// Why a taker's feed is over before its end.
enum TakerOver {
    Raised(PyErr),
    /// The item is one of another feed.
    AnotherFeed,
}

impl Source {
    fn item(&self, item: PyResult<Bound<'_, PyAny>>) -> Result<SentItem, Unserved> {
        let item = item?;
        let carrier = &self.plan.procedures[self.next];
        let declared = carrier.items().map_or(&Type::Extended, |(declared, _)| declared);
        let mut bytes = Vec::new();
        let appended = append(&item, declared, &self.plan.table, &mut bytes);
        appended.map_err(|wrong| refused(item.py(), (wrong, "item")))?;
        Ok(SentItem { open: self.open, bytes })
    }
}

impl Iterator for Source {
    type Item = Result<SentItem, SourceOver>;

    fn next(&mut self) -> Option<Self::Item> {
        Python::attach(|py| {
            let made = self.made.bind(py);
            let item = match made.cast_into::<PyIterator>() {
                Ok(mut iterator) => iterator.next()?,
                Err(error) => Err(error.into()),
            };
            let open = self.open;
            Some(self.item(item).map_err(|why| SourceOver { open, why }))
        })
    }
}

impl Intake for Taker {
    type Item = CameItem;
    type Output = Taken;
    type Error = TakerOver;

    fn take(&mut self, came: CameItem) -> Result<(), TakerOver> {
        if came.open != self.open {
            return Err(TakerOver::AnotherFeed);
        }
        Python::attach(|py| {
            let taken = self.made.bind(py).call_method1("take", (came.item,));
            taken.map(|_| ()).map_err(TakerOver::Raised)
        })
    }

    fn end(self: Box<Self>) -> Result<Taken, TakerOver> {
        Python::attach(|py| {
            let answer = self.made.bind(py).call_method0("end").map_err(TakerOver::Raised)?;
            Ok(Taken { open: self.open, answer: answer.unbind() })
        })
    }
}

/// A call of a feed's procedure.
pub struct FeedCall<'s, 'py> {
    pub py: Python<'py>,
    pub plan: &'s Arc<Plan>,
    /// Which procedure.
    pub index: usize,
}

impl<'py> FeedCall<'_, 'py> {
    /// Opens a feed of what the procedure has made; its number.
    pub fn opened(
        &self,
        made: Bound<'py, PyAny>,
        arguments: &Arguments<'_>,
    ) -> Result<Bound<'py, PyAny>, Unserved> {
        let open = self.index;
        let number = match self.plan.procedures[open].role {
            Role::OpensSource { next } => {
                let made = Made::source(made.try_iter()?.into_any().unbind());
                let plan = Arc::clone(self.plan);
                arguments.open_source(Box::new(Source { plan, open, next, made }))
            }
            Role::OpensTaker { .. } => {
                for wanted in ["take", "end", "close"] {
                    if !made.hasattr(wanted)? {
                        let message = format!("a feed's taker has no {wanted}()");
                        return Err(PyTypeError::new_err(message).into());
                    }
                }
                let made = Made::taker(made.unbind());
                arguments.open_taker(Box::new(Taker { open, made }))
            }
            _ => return Ok(made),
        };
        Ok(PyInt::new(self.py, number.map_err(Unserved::Refused)?).into_any())
    }

    /// What a procedure that carries a feed returns.
    pub fn carried(
        &self,
        given: &[Bound<'py, PyAny>],
        arguments: &Arguments<'_>,
    ) -> Result<Bound<'py, PyAny>, Unserved> {
        let feed = given[0].extract()?;
        let carried = match self.plan.procedures[self.index].role {
            Role::Next { open } => self.next(open, (feed, given[1].extract()?), arguments)?,
            Role::Put { open } => self.put(open, (feed, &given[1..]), arguments)?,
            Role::End { open } => self.end(open, feed, arguments)?,
            _ => None,
        };
        carried.ok_or_else(|| malformed(Malformed::Feed { feed }))
    }

    /// A batch, and whether it is the last; `None`: the feed is another one.
    fn next(
        &self,
        open: usize,
        (feed, number): (u64, u32),
        arguments: &Arguments<'_>,
    ) -> Result<Option<Bound<'py, PyAny>>, Unserved> {
        let limit = self.plan.procedures[self.index].items().map_or(1, |(_, limit)| limit);
        let next = arguments.next_of_feed::<SentItem, SourceOver>(feed, number, limit);
        let (items, is_last) = match next.map_err(Unserved::Refused)? {
            Ok((batch, is_last)) => (batch.into_items(), is_last),
            Err(over) if over.open == open => return Err(over.why),
            Err(_) => return Ok(None),
        };
        if items.iter().any(|item| item.open != open) {
            return Ok(None);
        }
        let count = items.len();
        let bytes = items.into_iter().flat_map(|item| item.bytes).collect();
        let batch = Bound::new(self.py, Batch::new(bytes, count))?.into_any();
        let is_last = PyBool::new(self.py, is_last).to_owned().into_any();
        Ok(Some(PyTuple::new(self.py, [batch, is_last])?.into_any()))
    }

    /// Gives a batch to its taker; `None`: the feed is another one.
    fn put(
        &self,
        open: usize,
        (feed, behind): (u64, &[Bound<'py, PyAny>]),
        arguments: &Arguments<'_>,
    ) -> Result<Option<Bound<'py, PyAny>>, Unserved> {
        let number = behind[0].extract()?;
        let items = behind[1].try_iter()?.map(|item| {
            let item = item?.unbind();
            Ok::<_, PyErr>(CameItem { open, item })
        });
        let items = items.collect::<PyResult<Vec<_>>>()?;
        let put = arguments.put_to_feed::<CameItem, Taken, TakerOver>(feed, number, items);
        match put.map_err(malformed)? {
            Ok(()) => Ok(Some(self.py.None().into_bound(self.py))),
            Err(TakerOver::Raised(error)) => Err(Unserved::Python(error)),
            Err(TakerOver::AnotherFeed) => Ok(None),
        }
    }

    /// What a taker makes of all that it took; `None`: the feed is another one.
    fn end(
        &self,
        open: usize,
        feed: u64,
        arguments: &Arguments<'_>,
    ) -> Result<Option<Bound<'py, PyAny>>, Unserved> {
        let ended = arguments.end_of_feed::<CameItem, Taken, TakerOver>(feed);
        match ended.map_err(malformed)? {
            Ok(taken) if taken.open == open => Ok(Some(taken.answer.into_bound(self.py))),
            Ok(_) | Err(TakerOver::AnotherFeed) => Ok(None),
            Err(TakerOver::Raised(error)) => Err(Unserved::Python(error)),
        }
    }
}
