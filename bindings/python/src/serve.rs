//! Serving: procedures written in Python, entered from the domain's processors.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nearcall::name::Scope;
use nearcall::raw::{Arguments, Entries, Inbox, Malformed, Outcome, Replied, Results};
use nearcall::{ExportOptions, InterfaceDescriptor, Policy, Refusal, UsageError, WrongDescriptor};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::descriptor::Came;
use crate::domain::{check_own, domain, is_shut_down};
use crate::errors;
use crate::knobs::Given;
use crate::messages::{self, Filled, Fixed, Side};
use crate::methods;
use crate::read::Unread;
use crate::serve_awaited;
use crate::served_exchange::ExchangeCall;
use crate::served_feed::FeedCall;
use crate::served_one_way::OneWayCall;
use crate::shown::{self, shown};
use crate::table::{Message, Plan, Procedure, Role, Table};
use crate::tables::Interface;
use crate::thread_state;
use crate::wakes::{Told, Wakes};
use crate::wrong::Wrong;

/// An exported interface.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Clerk {
    /// Not locked by who has the interpreter's lock: who has this one may wait for that.
    clerk: Mutex<Option<nearcall::Clerk>>,
    /// What it exports, and as what.
    plan: Arc<Plan>,
    name: String,
    is_withdrawn: AtomicBool,
}

/// A server's methods.
pub struct Object {
    pub plan: Arc<Plan>,
    /// An event loop runs those that can be awaited, and all feeds come from it or go to it.
    pub is_awaited: bool,
    /// Bound methods, in the order of the procedures; what carries a feed has none.
    pub functions: Vec<Option<Py<PyAny>>>,
}

/// The entry stubs over them.
struct ServedObject {
    object: Arc<Object>,
    /// Of the event loop that runs what can be awaited, if one does.
    inbox: Option<Arc<Inbox<Told>>>,
}

/// Why a procedure has no results.
pub enum Unserved {
    /// The client, or the results, broke a rule of the interface.
    Refused(Box<Refusal>),
    /// A result is not of its type: why, for the server's own people.
    Unfit(Box<Refusal>, PyErr),
    /// The procedure, or its results, raised what the interface does not know.
    Python(PyErr),
    /// Its task was cancelled, which its loop knows.
    Cancelled,
}

#[pymethods]
impl Clerk {
    /// Exports `server` under the name of `place`: to processes of this user (in the system scope,
    /// where root exports without `XDG_RUNTIME_DIR`, to nobody), to whoever may open the socket, or
    /// to whom the policy file of this path admits. The name goes to the directory there, if one
    /// is. The event loop of `wakes`, if that is given, awaits the methods.
    #[new]
    #[pyo3(signature = (
        interface, place, server, is_open_to_anyone, policy, wakes
    ))]
    fn new(
        py: Python<'_>,
        interface: &Interface,
        place: (Bound<'_, PyAny>, Bound<'_, PyAny>),
        server: &Bound<'_, PyAny>,
        is_open_to_anyone: &Bound<'_, PyAny>,
        policy: &Bound<'_, PyAny>,
        wakes: Option<&Wakes>,
    ) -> PyResult<Clerk> {
        let name = String::from_python("name", &place.0)?;
        let directory: Option<PathBuf> = Given::from_python("directory", &place.1)?;
        let is_open_to_anyone = bool::from_python("is_open_to_anyone", is_open_to_anyone)?;
        let policy: Option<PathBuf> = Given::from_python("policy", policy)?;
        let domain = domain()?;
        let plan = Arc::clone(&interface.plan);
        let functions = methods::of(server, &plan, wakes.is_some())?;
        let object =
            Arc::new(Object { plan: Arc::clone(&plan), is_awaited: wakes.is_some(), functions });
        let entries = ServedObject { object, inbox: wakes.map(Wakes::inbox).cloned() };
        let mut options = ExportOptions::default();
        options.scope = directory.map(Scope::Directory);
        options.policy = match (policy, is_open_to_anyone) {
            (None, false) => Policy::OfScope,
            (None, true) => Policy::Anyone,
            (Some(path), false) => rules(py, &path)?,
            (Some(_), true) => {
                return Err(PyValueError::new_err("it has a policy, and is open to anyone"));
            }
        };
        let clerk = py
            .detach(|| nearcall::Clerk::export_with(domain, &name, entries, options))
            .map_err(|error| errors::of_export(py, &error))?;
        let (clerk, is_withdrawn) = (Mutex::new(Some(clerk)), AtomicBool::new(false));
        Ok(Clerk { clerk, plan, name, is_withdrawn })
    }

    /// Withdraws the name and revokes its bindings; calls that run are finished.
    fn withdraw(&self, py: Python<'_>) {
        // Relaxed: for who looks at it, and nothing else.
        self.is_withdrawn.store(true, Ordering::Relaxed);
        py.detach(|| {
            let clerk = self.clerk.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(clerk);
        });
    }

    /// Who may bind is what the policy file of this path says from here on. Bindings of which it
    /// says something else are revoked, in order: how many that were. After an error the policy
    /// before it stays.
    fn set_policy(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<usize> {
        let path = PathBuf::from_python("path", path)?;
        let rules = rules(py, &path)?;
        let set = self.with(py, |clerk| clerk.set_policy(rules))?;
        set.map_err(|error| errors::of_export(py, &error))
    }

    /// The socket file that stands for the name.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |clerk| clerk.path().display().to_string())
    }

    /// How many bindings there are to it now.
    #[getter]
    fn binding_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, nearcall::Clerk::binding_count)
    }

    fn __repr__(&self) -> String {
        // Relaxed: as above.
        let state = match self.is_withdrawn.load(Ordering::Relaxed) || is_shut_down() {
            _ if check_own().is_err() => shown::PARENTS,
            true => "withdrawn",
            false => "open",
        };
        shown("Clerk", &format!("of {} at '{}'", self.plan.descriptor.name, self.name), state)
    }
}

impl Clerk {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&nearcall::Clerk) -> T + Send,
    ) -> PyResult<T> {
        let asked = py.detach(|| {
            let clerk = self.clerk.lock().unwrap_or_else(PoisonError::into_inner);
            clerk.as_ref().map(ask)
        });
        asked.ok_or_else(|| PyRuntimeError::new_err("the clerk was withdrawn"))
    }
}

/// What a policy file says.
fn rules(py: Python<'_>, path: &Path) -> PyResult<Policy> {
    let rules = nearcall_policy::load(path);
    rules.map(Policy::Rules).map_err(|error| errors::of_policy(py, path, &error))
}

impl Entries for ServedObject {
    fn interface(&self) -> &'static InterfaceDescriptor {
        self.object.plan.descriptor
    }

    fn enter(&self, procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let object = &self.object;
        if let Some(inbox) = &self.inbox
            && object.plan.procedures[procedure].role.is_awaited()
        {
            return serve_awaited::set_aside(object, inbox, procedure, arguments);
        }
        attached(object.method(procedure), |py| {
            let function = object.functions[procedure].as_ref();
            let function = function.map(|function| function.bind(py));
            object.run(py, procedure, function, arguments)
        })
    }

    fn is_awaited(&self) -> bool {
        let mut procedures = self.object.plan.procedures.iter();
        self.inbox.is_some()
            || procedures.any(|procedure| matches!(procedure.role, Role::OpensExchange { .. }))
    }
}

/// A procedure raised what the interface does not know.
pub struct Raised;

/// Serves a call of `function` with the interpreter.
pub fn attached(
    function: Option<&Py<PyAny>>,
    serve: impl FnOnce(Python<'_>) -> Result<Replied, Unserved>,
) -> Outcome {
    let ended = Python::try_attach(|py| {
        thread_state::keep(py);
        let served = serve(py);
        outcome(py, function, served)
    });
    // To the client it is what a panic is: the procedure ran and has no results. The hook that
    // prints panics has nothing to add to the traceback.
    match ended {
        Some(Ok(outcome)) => outcome,
        Some(Err(Raised)) | None => std::panic::resume_unwind(Box::new("raised in Python")),
    }
}

/// What the runtime is told of a call of `function`; what the client is not told is shown to the
/// server's own people.
pub fn outcome(
    py: Python<'_>,
    function: Option<&Py<PyAny>>,
    served: Result<Replied, Unserved>,
) -> Result<Outcome, Raised> {
    let (refusal, error) = match served {
        Ok(replied) => return Ok(Ok(replied)),
        Err(Unserved::Refused(refusal)) => return Ok(Err(refusal)),
        Err(Unserved::Unfit(refusal, error)) => (Some(refusal), error),
        Err(Unserved::Python(error)) => (None, error),
        Err(Unserved::Cancelled) => return Err(Raised),
    };
    error.write_unraisable(py, function.map(|function| function.bind(py)));
    refusal.map(Err).ok_or(Raised)
}

impl Object {
    /// The method of a procedure; of one that carries a feed, the one that has opened it.
    pub fn method(&self, index: usize) -> Option<&Py<PyAny>> {
        let opener = self.plan.procedures[index].role.opener();
        self.functions[opener.unwrap_or(index)].as_ref()
    }

    fn run<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        index: usize,
        function: Option<&Bound<'py, PyAny>>,
        arguments: Arguments<'_>,
    ) -> Result<Replied, Unserved> {
        let procedure = &self.plan.procedures[index];
        let message = &procedure.request;
        // Before anything is refused: what came is then closed.
        let came = came(message, &arguments).map_err(malformed)?;
        let given = given(py, &self.plan.table, (message, came), &arguments)?;
        let feed = FeedCall { py, plan: &self.plan, index };
        let exchange = ExchangeCall { py, object: self, index };
        let one_way = OneWayCall { object: self, index };
        let answer = match (function, procedure.role) {
            (Some(function), Role::OpensExchange { next, .. }) => {
                exchange.opened(function, given.into_iter(), next, &arguments)
            }
            (Some(function), _) => {
                let made = function.call1(PyTuple::new(py, given)?).map_err(Unserved::from);
                made.and_then(|made| feed.opened(made, &arguments))
            }
            (None, Role::NextOfExchange { open }) => {
                return exchange.next(open, &given, arguments);
            }
            (None, Role::Next { open }) if self.is_awaited => {
                return exchange.next(open, &given, arguments);
            }
            (None, Role::Put { open }) if self.is_awaited => {
                return one_way.put(open, &given, arguments);
            }
            (None, Role::End { open }) if self.is_awaited => {
                return one_way.end(open, &given, arguments);
            }
            (None, Role::PutToExchange { open }) => return exchange.put(open, &given, arguments),
            (None, Role::EndOfExchange { open }) => exchange.end(open, &given, &arguments),
            (None, _) => feed.carried(&given, &arguments),
        };
        reply(py, &self.plan, index, (answer, arguments))
    }
}

/// The descriptors that came with a call.
pub fn came(message: &Message, arguments: &Arguments<'_>) -> Result<Vec<Came>, Malformed> {
    let Message { descriptors, fixed_bytes, .. } = message;
    if descriptors.count() == 0 {
        return Ok(Vec::new());
    }
    let claims = descriptors.claims(*fixed_bytes, |fixed| arguments.copy_fixed(fixed));
    Ok(descriptors.in_order(arguments.each_descriptor(descriptors.kinds(), &claims)?))
}

/// The arguments, copied from the A-stack, and the descriptors that came with them.
pub fn given<'py>(
    py: Python<'py>,
    table: &Table,
    (message, came): (&Message, Vec<Came>),
    arguments: &Arguments<'_>,
) -> Result<smallvec::SmallVec<[Bound<'py, PyAny>; 4]>, Unserved> {
    let mut fixed = Fixed::from_elem(0, message.fixed_bytes);
    arguments.copy_fixed(&mut fixed);
    let incoming = match message.has_payloads {
        true => Some(arguments.variable_at(message.variable_at).map_err(malformed)?),
        false => None,
    };
    let values = messages::values(py, message, table, &fixed, incoming, came);
    values.map_err(|unread| match unread {
        Unread::Malformed(found) => malformed(found),
        Unread::Python(error) => Unserved::Python(error),
    })
}

/// Replies with the results of a procedure, or with what it raised.
pub fn reply<'py>(
    py: Python<'py>,
    plan: &Plan,
    index: usize,
    (answer, mut arguments): (Result<Bound<'py, PyAny>, Unserved>, Arguments<'_>),
) -> Result<Replied, Unserved> {
    let procedure = &plan.procedures[index];
    let answer = match answer {
        Ok(answer) => answer,
        Err(Unserved::Python(error)) => return raise(py, plan, (procedure, error), arguments),
        Err(refused) => return Err(refused),
    };
    let message = &procedure.reply;
    let filled = match message.parts.len() {
        0 => messages::fill(message, &plan.table, Side::Server, std::iter::empty()),
        1 => {
            let only = std::iter::once(answer.as_borrowed());
            messages::fill(message, &plan.table, Side::Server, only)
        }
        wanted => {
            let all = all_of(&answer, procedure.name, wanted)?;
            messages::fill(message, &plan.table, Side::Server, all.iter_borrowed())
        }
    };
    let filled = filled.map_err(|wrong| refused(py, wrong))?;
    if let Some(lent) = &filled.lent {
        let mut room = arguments.lent_results_at(message.variable_at, u32::MAX);
        room.put(lent.bytes()).map_err(|refusal| Unserved::Refused(Box::new(refusal)))?;
    }
    let results = put(arguments.results(), message, &filled)?;
    results.reply(message.fixed_bytes as u32).map_err(Unserved::Refused)
}

/// Several results: a tuple, as Python returns them.
fn all_of<'a, 'py>(
    answer: &'a Bound<'py, PyAny>,
    name: &str,
    wanted: usize,
) -> PyResult<&'a Bound<'py, PyTuple>> {
    let found = match answer.cast::<PyTuple>() {
        Ok(all) if all.len() == wanted => return Ok(all),
        Ok(all) => all.len().to_string(),
        Err(_) => format!("a value of type {}", answer.get_type().name()?),
    };
    Err(PyTypeError::new_err(format!("{name} returns {wanted} values, not {found}")))
}

/// An exception of the interface goes back as such.
fn raise(
    py: Python<'_>,
    plan: &Plan,
    (procedure, error): (&Procedure, PyErr),
    arguments: Arguments<'_>,
) -> Result<Replied, Unserved> {
    let table = &plan.table;
    let value = error.value(py);
    for ((row, message), number) in procedure.raised.iter().zip(1u16..) {
        if !value.is_instance(table[*row].class.bind(py))? {
            continue;
        }
        let names = message.parts.iter().map(|part| value.getattr(part.name));
        let members = names.collect::<PyResult<Vec<_>>>()?;
        let members = members.iter().map(|member| member.as_borrowed());
        let filled = messages::fill(message, table, Side::Server, members);
        let filled = filled.map_err(|wrong| refused(py, wrong))?;
        let results = put(arguments.exception(), message, &filled)?;
        let raised = results.raise(number, message.fixed_bytes as u32);
        return raised.map_err(Unserved::Refused);
    }
    Err(Unserved::Python(error))
}

/// Puts what was filled where the client finds it.
fn put<'a>(
    mut results: Results<'a>,
    message: &Message,
    filled: &Filled,
) -> Result<Results<'a>, Unserved> {
    if !filled.fixed.is_empty() {
        results.put_bytes::<0>(&filled.fixed);
    }
    if !filled.payloads.is_empty() {
        let variable = results.variable_at(message.variable_at, filled.variable_bytes());
        let mut variable = variable.map_err(Unserved::Refused)?;
        for payload in &filled.payloads {
            variable.put_opaque(payload.argument());
        }
    }
    if !filled.passed.is_empty() {
        let passed = filled.passed.iter().map(|one| (one.kind, one.as_fd()));
        let sent = results.put_each_descriptor(&passed.collect::<Vec<_>>());
        sent.map_err(Unserved::Refused)?;
    }
    Ok(results)
}

pub fn malformed(found: Malformed) -> Unserved {
    Unserved::Refused(found.into())
}

pub fn refused(py: Python<'_>, (wrong, label): (Wrong, &'static str)) -> Unserved {
    let wrong = wrong.named(label);
    let refusal = match &wrong {
        Wrong::Bound { over, .. } => Some(Refusal::Results(UsageError::OverBound(over.clone()))),
        Wrong::Range { beyond, .. } | Wrong::Nesting { beyond, .. } => {
            Some(Refusal::Results(UsageError::OutOfRange(Box::new(beyond.clone()))))
        }
        Wrong::NotOpen { wanted, .. } => {
            Some(Refusal::Descriptor(WrongDescriptor { wanted: *wanted, mode: 0 }))
        }
        Wrong::Type { .. } | Wrong::Python(_) => None,
    };
    let error = errors::of_result(py, wrong, label);
    match refusal {
        Some(refusal) => Unserved::Unfit(Box::new(refusal), error),
        None => Unserved::Python(error),
    }
}

impl From<PyErr> for Unserved {
    fn from(error: PyErr) -> Unserved {
        Unserved::Python(error)
    }
}
