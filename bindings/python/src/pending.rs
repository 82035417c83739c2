//! Calls that were posted and are collected later, by whichever thread
//! (docs/design/0007-several-calls.md).
//!
//! ```text
//!   posting.add(2, 3)          generated: which procedure, which arguments
//!    └ Binding.post            call.rs: the arguments are on the A-stack when it returns
//!       └ Pending ──collect──▶ results, or what was raised
//!            ├──cancel──▶ the server sees it
//!            └──dropped─▶ nothing waits; the A-stack comes back when the server is done with it
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall::raw::{Ahead, Client, Interruptible, in_haste};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use self_cell::self_cell;
use send_wrapper::SendWrapper;

use crate::call::{replied, results};
use crate::domain::check_own;
use crate::errors;
use crate::table::{Plan, Procedure};

/// What a client has posted; nothing once somebody collects it.
type Posted<'b> = Option<Ahead<'b>>;

self_cell!(
    /// A call, and the client that it goes through.
    pub struct UnderWay {
        owner: Client,
        #[covariant]
        dependent: Posted,
    }
);

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
    UnderWay(UnderWay),
    Collected,
    Cancelled,
}

impl Pending {
    /// Hands it to Python: of the procedure of this index, which is there.
    pub fn new(under_way: UnderWay, plan: Arc<Plan>, procedure: usize) -> Pending {
        Pending { plan, procedure, state: Mutex::new(State::UnderWay(under_way)) }
    }

    fn procedure(&self) -> &Procedure {
        &self.plan.procedures[self.procedure]
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call, if it is under way: it is `next` then. Else how it was ended.
    fn take(&self, next: State) -> Result<UnderWay, &'static str> {
        let mut state = self.state();
        let (before, how) = match std::mem::replace(&mut *state, next) {
            State::UnderWay(under_way) => return Ok(under_way),
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
        let mut under_way = self.take(State::Collected).map_err(|how| {
            PyRuntimeError::new_err(format!("the call of {} was {how} already", procedure.name))
        })?;
        under_way.with_dependent_mut(|_, posted| {
            let ahead = posted.take().expect("who has it collects it");
            let interruptible = Interruptible::begin(errors::is_interrupted);
            let reply = py.detach(|| {
                let reply = ahead.collect().and_then(|reply| replied(procedure, reply));
                SendWrapper::new(reply)
            });
            drop(interruptible);
            if let Some(raised) = errors::take_raised() {
                return Err(raised);
            }
            match reply.take() {
                Ok(replied) => results(py, &self.plan, procedure, replied),
                Err(error) => Err(errors::of_call(py, &error)),
            }
        })
    }

    /// Gives the call up: the server sees it, and does not run it if it has not begun to. Does not
    /// wait. Nothing happens if it was collected, or cancelled before.
    fn cancel(&self) {
        if let Ok(mut under_way) = self.take(State::Cancelled) {
            under_way.with_dependent_mut(|_, posted| posted.take().map(Ahead::cancel));
        }
    }

    /// Whether `collect` will not wait.
    #[getter]
    fn is_replied(&self) -> bool {
        match &*self.state() {
            State::UnderWay(under_way) => {
                under_way.borrow_dependent().as_ref().is_none_or(Ahead::is_replied)
            }
            State::Collected | State::Cancelled => true,
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
