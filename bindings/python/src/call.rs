//! Calling: a binding, and one call through it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::raw::{
    Ahead, Call, Client, DescriptorKind, Interruptible, Reply, is_worth_another_try,
};
use nearcall::{CallError, ImportOptions, Rebind, WhenExhausted};
use nearcall_abi::counted;
use nearcall_os::descriptor::PeerDescriptor;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use send_wrapper::SendWrapper;

use crate::descriptor::{Came, Descriptor, Passed};
use crate::domain::{check_own, domain};
use crate::errors;
use crate::knobs::Given;
use crate::messages::{self, Filled, Fixed, Side};
use crate::pending::{Again, Pending, UnderWay};
use crate::read::Unread;
use crate::table::{Message, Plan, Procedure, Role};
use crate::tables::Interface;
use crate::view::Lent;

/// The client's key to an interface in another domain.
#[pyclass(frozen, module = "nearcall._native")]
pub struct Binding {
    client: Client,
    plan: Arc<Plan>,
}

/// What a client says of how to import. `None` is as usual.
#[derive(Default)]
struct Importing {
    timeout: Option<Duration>,
    ready_timeout: Option<Duration>,
    ready_pidfd: Option<Arc<OwnedFd>>,
    rebind_timeout: Option<Duration>,
    grows: bool,
    directory: Option<PathBuf>,
    wait: Option<nearcall::WaitPolicy>,
}

impl Importing {
    fn options(self) -> ImportOptions {
        let mut options = ImportOptions::default();
        options.scopes = self.directory.map(|directory| vec![Scope::Directory(directory)]);
        options.wait = self.wait;
        if self.grows {
            options.when_exhausted = WhenExhausted::Grow;
        }
        if let Some(timeout) = self.timeout {
            options.timeout = timeout;
        }
        if let Some(timeout) = self.ready_timeout {
            options.ready_timeout = timeout;
        }
        options.ready_pidfd = self.ready_pidfd;
        if let Some(timeout) = self.rebind_timeout {
            options.rebind = Rebind::WaitForReady(timeout);
        }
        options
    }
}

#[pymethods]
impl Binding {
    /// Binds to the domain that exports `name`; waits at most `ready_timeout` seconds until
    /// somebody does, and no longer than the process of `ready_pidfd` lives, and `timeout` seconds
    /// for its half of the bind. `rebind` waits at most `rebind_timeout` seconds until somebody
    /// exports it again. With `grows`, a call that finds no A-stack has the server add some. The
    /// name is looked up in `directory`, else in the user's scope and then the system's; `wait` is
    /// in place of the domain's.
    #[new]
    #[pyo3(signature = (
        interface,
        name,
        timeout,
        ready_timeout,
        ready_pidfd,
        rebind_timeout,
        grows,
        directory,
        wait
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn new(
        py: Python<'_>,
        interface: &Interface,
        name: &Bound<'_, PyAny>,
        timeout: &Bound<'_, PyAny>,
        ready_timeout: &Bound<'_, PyAny>,
        ready_pidfd: &Bound<'_, PyAny>,
        rebind_timeout: &Bound<'_, PyAny>,
        grows: &Bound<'_, PyAny>,
        directory: &Bound<'_, PyAny>,
        wait: &Bound<'_, PyAny>,
    ) -> PyResult<Binding> {
        let name = &String::from_python("name", name)?;
        let said = Importing {
            timeout: Given::from_python("timeout", timeout)?,
            ready_timeout: Given::from_python("ready_timeout", ready_timeout)?,
            ready_pidfd: Given::from_python("ready_pidfd", ready_pidfd)?,
            rebind_timeout: Given::from_python("rebind_timeout", rebind_timeout)?,
            grows: Given::from_python("grows", grows)?,
            directory: Given::from_python("directory", directory)?,
            wait: Given::from_python("wait", wait)?,
        };
        let options = said.options();
        let domain = domain()?;
        let plan = Arc::clone(&interface.plan);
        let descriptor = plan.descriptor;
        let interruptible = Interruptible::begin(errors::is_interrupted);
        let bound = py.detach(|| nearcall::Binding::import_with(domain, name, descriptor, options));
        drop(interruptible);
        if let Some(raised) = errors::take_raised() {
            return Err(raised);
        }
        let bound = bound.map_err(|error| errors::of_bind(py, &error))?;
        Ok(Binding { client: Client::new(bound, descriptor), plan })
    }

    /// Binds to what whoever gave this introduction is bound to.
    #[staticmethod]
    #[pyo3(signature = (interface, introduction, timeout, wait))]
    fn introduced(
        py: Python<'_>,
        interface: &Interface,
        introduction: &Bound<'_, PyAny>,
        timeout: &Bound<'_, PyAny>,
        wait: &Bound<'_, PyAny>,
    ) -> PyResult<Binding> {
        let timeout = Given::from_python("timeout", timeout)?;
        let wait = Given::from_python("wait", wait)?;
        let options = Importing { timeout, wait, ..Importing::default() }.options();
        let domain = domain()?;
        let named = ("introduction", DescriptorKind::Binding);
        let introduction = Passed::of(introduction, named);
        let introduction = introduction.map_err(|wrong| errors::of_argument(py, wrong, named.0))?;
        let introduction = introduction.into_own();
        let plan = Arc::clone(&interface.plan);
        let descriptor = plan.descriptor;
        let import =
            || nearcall::Binding::import_introduced_with(domain, introduction, descriptor, options);
        let bound = py.detach(import).map_err(|error| errors::of_bind(py, &error))?;
        Ok(Binding { client: Client::new(bound, descriptor), plan })
    }

    /// An introduction to the same server, for one other domain.
    fn introduce(&self, py: Python<'_>) -> PyResult<Descriptor> {
        check_own()?;
        let introduced = py.detach(|| self.client.binding().introduce());
        let introduction = introduced.map_err(|error| errors::of_bind(py, &error))?;
        Ok(Descriptor::new(PeerDescriptor::from(introduction)))
    }

    /// The binding to the server's present life: this one while it holds.
    fn rebind(&self, py: Python<'_>) -> PyResult<Binding> {
        check_own()?;
        let interruptible = Interruptible::begin(errors::is_interrupted);
        let rebound = py.detach(|| self.client.rebind());
        drop(interruptible);
        if let Some(raised) = errors::take_raised() {
            return Err(raised);
        }
        let client = rebound.map_err(|error| errors::of_bind(py, &error))?;
        Ok(Binding { client, plan: Arc::clone(&self.plan) })
    }

    /// The same binding, whose calls wait at most so many seconds.
    fn with_deadline(&self, seconds: &Bound<'_, PyAny>) -> PyResult<Binding> {
        let client = self.client.with_deadline(Given::from_python("deadline", seconds)?);
        Ok(Binding { client, plan: Arc::clone(&self.plan) })
    }

    /// Calls the procedure of this index.
    #[pyo3(signature = (procedure, *arguments))]
    pub fn call<'py>(
        &self,
        py: Python<'py>,
        procedure: usize,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (plan, filled) = self.filled(procedure, arguments, Side::Client)?;
        let interruptible = Interruptible::begin(errors::is_interrupted);
        let (index, mut next) = (procedure as u32, None);
        let reply = py.detach(|| {
            let exchange = |client| exchange(client, plan, index, &filled);
            SendWrapper::new(match plan.is_retried {
                true => self.client.twice_if_need_be_over(&mut next, exchange),
                false => exchange(&self.client),
            })
        });
        drop(interruptible);
        if let Some(raised) = errors::take_raised() {
            return Err(raised);
        }
        match reply.take() {
            Ok(Some(replied)) => results(py, &self.plan, plan, replied),
            Ok(None) => Ok(py.None().into_bound(py)),
            Err(error) => Err(errors::of_call_with(py, &error, &filled.passed)),
        }
    }

    /// Posts a call of the procedure of this index, and does not wait for its reply.
    #[pyo3(signature = (procedure, *arguments))]
    fn post(
        &self,
        py: Python<'_>,
        procedure: usize,
        arguments: &Bound<'_, PyTuple>,
    ) -> PyResult<Pending> {
        let (plan, filled) = self.filled(procedure, arguments, Side::Posting)?;
        if plan.is_oneway || plan.role != Role::Plain {
            let message = format!("{} has no results to collect later", plan.name);
            return Err(PyTypeError::new_err(message));
        }
        let index = procedure as u32;
        // Copies of descriptors would be system calls at each post.
        let is_twice = plan.is_retried && filled.passed.is_empty();
        let filled = match is_twice {
            true => {
                let copies = py.detach(|| filled.copies());
                filled.into_own(copies.map_err(|error| PyMemoryError::new_err(error.to_string()))?)
            }
            false => filled,
        };
        let until_ns = if is_twice { self.client.until_ns() } else { 0 };
        let interruptible = Interruptible::begin(errors::is_interrupted);
        let posted = py.detach(|| {
            UnderWay::try_new(self.client.clone(), |client| {
                match posted(client, plan, index, &filled) {
                    Err(error) if !is_twice || !is_worth_another_try(&error) => Err(error),
                    posted => Ok(Some(posted)),
                }
            })
        });
        drop(interruptible);
        if let Some(raised) = errors::take_raised() {
            return Err(raised);
        }
        match posted {
            Ok(under_way) => {
                let again = is_twice.then(|| Box::new(Again { until_ns, filled }));
                Ok(Pending::new((under_way, again), Arc::clone(&self.plan), procedure))
            }
            Err(error) => Err(errors::of_call_with(py, &error, &filled.passed)),
        }
    }

    /// Memory of so many bytes that the server can read in place: an `@opaque` argument that is
    /// built there is not copied at all.
    fn lend(&self, py: Python<'_>, bytes: &Bound<'_, PyAny>) -> PyResult<Lent> {
        check_own()?;
        let bytes = Given::from_python("bytes", bytes)?;
        let lent = py.detach(|| self.client.binding().lend(bytes));
        lent.map(Lent::new).map_err(|error| errors::of_call(py, &error))
    }

    /// The name that it was imported by.
    #[getter]
    fn name(&self) -> &str {
        self.client.binding().name()
    }

    /// Which life of the server it is bound to: a later export has a larger number.
    #[getter]
    fn incarnation(&self) -> u64 {
        self.client.binding().incarnation()
    }

    /// The server has ended, or one of the two sides has given the binding up.
    #[getter]
    fn is_revoked(&self) -> bool {
        self.client.binding().is_revoked()
    }

    /// How many A-stacks the server holds of calls that nobody waits for: aborted, dropped or
    /// oneway ones.
    #[getter]
    fn captured_count(&self) -> u32 {
        self.client.binding().captured_count()
    }

    /// Waits at most `timeout` seconds until every call over this binding is over that nobody waits
    /// for: what any thread has posted oneway, given up or dropped. Returns how many are not; 0:
    /// all have run, or were refused. To be called before the program exits or gives the client
    /// up: what a server has not begun by then it does not run. Ctrl-C ends it.
    fn flush(&self, py: Python<'_>, timeout: &Bound<'_, PyAny>) -> PyResult<u32> {
        check_own()?;
        let timeout = Given::from_python("timeout", timeout)?;
        let interruptible = Interruptible::begin(errors::is_interrupted);
        let count = py.detach(|| self.client.binding().flush(timeout));
        drop(interruptible);
        errors::take_raised().map_or(Ok(count), Err)
    }

    /// How many A-stacks there are, of all classes.
    #[getter]
    fn astack_count(&self) -> u32 {
        self.client.binding().astack_count()
    }

    fn __repr__(&self) -> String {
        self.shown()
    }
}

/// A reply, and the descriptors beside it.
pub type Replied<'b> = (Reply<'b>, Vec<Came>);

/// Posts a call whose reply is collected later.
fn posted<'b>(
    client: &'b Client,
    procedure: &Procedure,
    index: u32,
    filled: &Filled,
) -> Result<Ahead<'b>, Box<CallError>> {
    let call = client.claim_of_class(procedure.class, index)?;
    let call = fill_call(call, client, procedure, filled)?;
    call.post_ahead(procedure.request.fixed_bytes as u32, None)
}

/// Everything of a call that needs no interpreter.
pub fn exchange<'b>(
    client: &'b Client,
    procedure: &Procedure,
    index: u32,
    filled: &Filled,
) -> Result<Option<Replied<'b>>, Box<CallError>> {
    let call = client.claim_of_class(procedure.class, index)?;
    let call = fill_call(call, client, procedure, filled)?;
    let fixed_bytes = procedure.request.fixed_bytes as u32;
    if procedure.is_oneway {
        return call.post_oneway(fixed_bytes).map(|()| None);
    }
    replied(procedure, call.post(fixed_bytes)?).map(Some)
}

/// Puts the arguments onto an A-stack.
pub fn fill_call<'b, 'd>(
    mut call: Call<'b, 'd>,
    client: &Client,
    procedure: &Procedure,
    filled: &'d Filled,
) -> Result<Call<'b, 'd>, Box<CallError>> {
    let message = &procedure.request;
    if !filled.fixed.is_empty() {
        call.put_bytes::<0>(&filled.fixed);
    }
    if message.has_payloads {
        let mut variable = call.variable_at(message.variable_at, filled.variable_bytes())?;
        for payload in &filled.payloads {
            variable.put_opaque(client.opaque(payload.argument())?);
        }
    }
    if procedure.reply.descriptors.count() > 0 {
        call.expect_descriptors();
    }
    if !filled.passed.is_empty() {
        let passed = filled.passed.iter().map(|one| (one.name, one.kind, one.as_fd()));
        call.put_each_descriptor(&passed.collect::<Vec<_>>())?;
    }
    Ok(call)
}

/// A reply with what came beside it.
pub fn replied<'b>(procedure: &Procedure, reply: Reply<'b>) -> Result<Replied<'b>, Box<CallError>> {
    let Message { descriptors, fixed_bytes, .. } = &procedure.reply;
    let came = match reply.raised() {
        0 if descriptors.count() > 0 => {
            let claims = descriptors.claims(*fixed_bytes, |fixed| reply.copy_fixed(fixed));
            descriptors.in_order(reply.each_descriptor(descriptors.kinds(), &claims)?)
        }
        _ => Vec::new(),
    };
    Ok((reply, came))
}

impl Binding {
    /// What it calls through.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The interface.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The same binding, for who holds it longer.
    pub fn shared(&self) -> Binding {
        Binding { client: self.client.clone(), plan: Arc::clone(&self.plan) }
    }

    /// The procedure of this index, and its arguments as they go onto an A-stack.
    pub fn filled(
        &self,
        procedure: usize,
        arguments: &Bound<'_, PyTuple>,
        side: Side,
    ) -> PyResult<(&Procedure, Filled)> {
        let py = arguments.py();
        check_own()?;
        let Some(plan) = self.plan.procedures.get(procedure) else {
            return Err(PyIndexError::new_err(format!("there is no procedure {procedure}")));
        };
        if arguments.len() != plan.request.parts.len() {
            let (given, wanted) = (arguments.len(), plan.request.parts.len());
            let wanted = counted(wanted, "argument");
            let message = format!("{} takes {wanted}, not {given}", plan.name);
            return Err(PyTypeError::new_err(message));
        }
        let (message, table) = (&plan.request, &self.plan.table);
        let filled = messages::fill(message, table, side, arguments.iter_borrowed());
        let filled = filled.map_err(|(wrong, label)| errors::of_argument(py, wrong, label))?;
        Ok((plan, filled))
    }
}

/// What a reply brings, as a call evaluates to it; what the procedure raised, as an error.
pub fn results<'py>(
    py: Python<'py>,
    plan: &Plan,
    procedure: &Procedure,
    (reply, came): Replied<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let raised = reply.raised() as usize;
    if raised == 0 {
        let values = match values(py, plan, &procedure.reply, (&reply, came)) {
            Ok(values) => values,
            Err(unread) => return Err(unread_error(py, &reply, unread)),
        };
        return match values.as_slice() {
            [] => Ok(py.None().into_bound(py)),
            [one] => Ok(one.clone()),
            all => Ok(PyTuple::new(py, all)?.into_any()),
        };
    }
    let Some((row, message)) = procedure.raised.get(raised - 1) else {
        return Err(errors::of_call(py, &reply.unknown_exception()));
    };
    match values(py, plan, message, (&reply, came)) {
        Ok(values) => Err(PyErr::from_value(plan.table[*row].made(py, &values)?)),
        Err(unread) => Err(unread_error(py, &reply, unread)),
    }
}

fn values<'py>(
    py: Python<'py>,
    plan: &Plan,
    message: &Message,
    (reply, came): (&Reply<'_>, Vec<Came>),
) -> Result<smallvec::SmallVec<[Bound<'py, PyAny>; 4]>, Unread> {
    if message.parts.is_empty() {
        return Ok(smallvec::SmallVec::new());
    }
    let mut fixed = Fixed::from_elem(0, message.fixed_bytes);
    reply.copy_fixed(&mut fixed);
    let incoming = match message.has_payloads {
        true => Some(
            reply
                .variable_at(message.variable_at)
                .map_err(|error| Unread::Python(errors::of_call(py, &error)))?,
        ),
        false => None,
    };
    messages::values(py, message, &plan.table, &fixed, incoming, came)
}

/// What the server sent is no value of its type: the binding is revoked.
fn unread_error(py: Python<'_>, reply: &Reply<'_>, unread: Unread) -> PyErr {
    match unread {
        Unread::Malformed(malformed) => errors::of_call(py, &reply.malformed(malformed)),
        Unread::Python(error) => error,
    }
}
