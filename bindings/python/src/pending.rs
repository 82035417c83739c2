//! Calls that were posted and are collected later, by whichever thread
//! (docs/design/0007-several-calls.md).
//!
//! ```text
//!   posting.add(2, 3)          generated: which procedure, which arguments
//!    └ Binding.post            call.rs: the arguments are on the A-stack when it returns
//!       └ Pending ──collect──▶ results, or what was raised
//!            │               made once more, of what may run twice, if its server has ended
//!            ├──cancel──▶ the server sees it
//!            └──dropped─▶ nothing waits; the A-stack comes back when the server is done with it
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall::CallError;
use nearcall::raw::{Ahead, Client, Interruptible, in_haste};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use self_cell::self_cell;
use send_wrapper::SendWrapper;

use crate::call::{exchange, replied, results};
use crate::domain::check_own;
use crate::errors;
use crate::messages::Filled;
use crate::shown::{self, shown};
use crate::table::{Plan, Procedure};

/// What a client has posted; nothing once somebody collects it. An error, of what may run twice:
/// nobody was there to post it to, and the next life may have it.
type Posted<'b> = Option<Result<Ahead<'b>, Box<CallError>>>;

self_cell!(
    /// A call, and the client that it goes through.
    pub struct UnderWay {
        owner: Client,
        #[covariant]
        dependent: Posted,
    }
);

/// What a second try needs of a call that may run twice.
pub struct Again {
    /// When both tries are over.
    pub until_ns: u64,
    pub filled: Filled,
}

/// A call that is under way. Any thread may collect it, once; a deadline counts from the post.
///
/// Held by nobody any more, it is let go, and nobody waits: its results are dropped.
#[pyclass(frozen, generic, module = "nearcall")]
pub struct Pending {
    plan: Arc<Plan>,
    procedure: usize,
    state: Mutex<State>,
}

enum State {
    UnderWay(UnderWay, Option<Box<Again>>),
    Collected,
    Cancelled,
}

impl Pending {
    /// Hands it to Python: of the procedure of this index, which is there.
    pub fn new(
        (under_way, again): (UnderWay, Option<Box<Again>>),
        plan: Arc<Plan>,
        procedure: usize,
    ) -> Pending {
        Pending { plan, procedure, state: Mutex::new(State::UnderWay(under_way, again)) }
    }

    fn procedure(&self) -> &Procedure {
        &self.plan.procedures[self.procedure]
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call, if it is under way: it is `next` then. Else how it was ended.
    fn take(&self, next: State) -> Result<(UnderWay, Option<Box<Again>>), &'static str> {
        let mut state = self.state();
        let (before, how) = match std::mem::replace(&mut *state, next) {
            State::UnderWay(under_way, again) => return Ok((under_way, again)),
            State::Collected => (State::Collected, "collected"),
            State::Cancelled => (State::Cancelled, "cancelled"),
        };
        *state = before;
        Err(how)
    }
}

#[pymethods]
impl Pending {
    /// Waits for the reply; what the call evaluates to, or raises. Once.
    fn collect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        check_own()?;
        let procedure = self.procedure();
        let (mut under_way, again) = self.take(State::Collected).map_err(|how| {
            PyRuntimeError::new_err(format!("the call of {} was {how} already", procedure.name))
        })?;
        under_way.with_dependent_mut(|client, posted| {
            let (mut posted, mut next) = (posted.take(), None);
            let interruptible = Interruptible::begin(errors::is_interrupted);
            let reply = py.detach(|| {
                let mut collect = || {
                    let ahead = posted.take().expect("who has it collects it")?;
                    replied(procedure, ahead.collect()?)
                };
                let Some(Again { until_ns, filled }) = again.as_deref() else {
                    return SendWrapper::new(collect());
                };
                let index = self.procedure as u32;
                let mut is_first = true;
                let collect = |client| match std::mem::take(&mut is_first) {
                    true => collect(),
                    false => {
                        let replied = exchange(client, procedure, index, filled)?;
                        Ok(replied.expect("what is posted has results"))
                    }
                };
                SendWrapper::new(client.twice_if_need_be_until(*until_ns, &mut next, collect))
            });
            drop(interruptible);
            if let Some(raised) = errors::take_raised() {
                return Err(raised);
            }
            match reply.take() {
                Ok(replied) => results(py, &self.plan, procedure, replied),
                Err(error) => {
                    let passed = again.as_deref().map_or(&[][..], |again| &again.filled.passed);
                    Err(errors::of_call_with(py, &error, passed))
                }
            }
        })
    }

    /// Gives the call up: the server sees it, and does not run it if it has not begun to. Does not
    /// wait. Nothing happens if it was collected, or cancelled before.
    fn cancel(&self) {
        if let Ok((mut under_way, _)) = self.take(State::Cancelled) {
            under_way.with_dependent_mut(|_, posted| {
                if let Some(Ok(ahead)) = posted.take() {
                    ahead.cancel();
                }
            });
        }
    }

    /// Whether `collect` will not wait, unless it makes the call once more.
    #[getter]
    fn is_replied(&self) -> bool {
        match &*self.state() {
            State::UnderWay(under_way, _) => match under_way.borrow_dependent() {
                Some(Ok(ahead)) => ahead.is_replied(),
                Some(Err(_)) | None => true,
            },
            State::Collected | State::Cancelled => true,
        }
    }

    fn __repr__(&self) -> String {
        let of = shown::procedure(&self.plan, self.procedure());
        let Some(state) = shown::seen(&self.state) else { return shown("Pending", &of, "busy") };
        match &*state {
            State::UnderWay(under_way, _) => {
                let is_parents = check_own().is_err();
                let state = match under_way.borrow_dependent() {
                    _ if is_parents => shown::PARENTS,
                    Some(Ok(ahead)) if !ahead.is_replied() => "under way",
                    _ => "replied",
                };
                shown("Pending", &shown::at(&of, under_way.borrow_owner()), state)
            }
            State::Collected => shown("Pending", &of, "collected"),
            State::Cancelled => shown("Pending", &of, "cancelled"),
        }
    }
}

/// What `post` makes of `item`. A claim of its that finds no A-stack is refused, and does not wait.
#[pyfunction]
pub fn post_in_haste<'py>(
    post: &Bound<'py, PyAny>,
    item: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    in_haste(|| post.call1((item,)))
}
