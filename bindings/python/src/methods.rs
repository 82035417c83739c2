//! A server's methods, looked at when it is exported: what could not be called as the interface
//! calls it is told then, and not to the first client. Calls pay nothing for it.
//!
//! Of a function written in Python it is known what it takes. Of any other callable (in C, a
//! `functools.partial`, an object that can be called) it is not asked, and its calls find out.

use nearcall::InterfaceDescriptor;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::table::{Plan, Procedure, Role};

/// The bound methods of a server, in the order of the procedures, once they were looked at; what
/// carries a feed has none. An event loop may await them.
pub fn of(
    server: &Bound<'_, PyAny>,
    plan: &Plan,
    is_awaited: bool,
) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let inspect = server.py().import("inspect")?;
    let methods = plan.procedures.iter().map(|procedure| {
        let Some(name) = &procedure.function else { return Ok(None) };
        let function = server.getattr(name.bind(server.py()))?;
        let method = Method { inspect: &inspect, function: &function, procedure };
        if let Some(why) = method.is_wrong(plan.descriptor, is_awaited)? {
            let class = server.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{class}.{} {why}", name.bind(server.py()))));
        }
        Ok(Some(function.unbind()))
    });
    methods.collect()
}

/// What is to run a procedure.
struct Method<'m, 'py> {
    inspect: &'m Bound<'py, PyModule>,
    function: &'m Bound<'py, PyAny>,
    procedure: &'m Procedure,
}

impl<'py> Method<'_, 'py> {
    /// Why it is no method of the procedure.
    fn is_wrong(
        &self,
        interface: &InterfaceDescriptor,
        is_awaited: bool,
    ) -> PyResult<Option<String>> {
        if !self.function.is_callable() {
            let found = self.function.get_type().name()?;
            return Ok(Some(format!("is no method: {found} cannot be called")));
        }
        let kind = if is_awaited { self.is_not_awaited()? } else { self.is_not_entered()? };
        match kind {
            Some(kind) => Ok(Some(format!("is {kind}"))),
            None => self.takes_others(interface, is_awaited),
        }
    }

    /// What it is if it evaluates to nothing at all by itself: it would not run, and seem to have
    /// run.
    fn is_not_entered(&self) -> PyResult<Option<&'static str>> {
        if self.is("iscoroutinefunction")? || self.is("isasyncgenfunction")? {
            return Ok(Some("`async def`: only the methods of an AsyncServer are awaited"));
        }
        let is_source = matches!(self.procedure.role, Role::OpensSource { .. });
        Ok((!is_source && self.is("isgeneratorfunction")?).then_some(YIELDS))
    }

    /// What it is if it evaluates to nothing that can be awaited, or that items come of, and what
    /// it has to be. Of a function that says whose place it has taken (`functools.wraps`, a mock)
    /// nobody can tell.
    fn is_not_awaited(&self) -> PyResult<Option<&'static str>> {
        if matches!(self.procedure.role, Role::OpensSource { .. }) {
            if self.is("iscoroutinefunction")? {
                return Ok(Some("a coroutine: its items come of an async generator"));
            }
            let is_plain = self.is("isgeneratorfunction")?;
            return Ok(is_plain.then_some("a generator: its items come of an async generator"));
        }
        if self.is("isasyncgenfunction")? || self.is("isgeneratorfunction")? {
            return Ok((!self.is_marked()?).then_some(YIELDS));
        }
        let is_plain = match self.own()? {
            Some((own, _)) => !own.hasattr("__wrapped__")? && !own.hasattr("mock")?,
            None => false,
        };
        let plain = "a plain `def`: the methods of an AsyncServer are awaited, write `async def`";
        Ok((is_plain && !self.is("iscoroutinefunction")?).then_some(plain))
    }

    /// What `inspect` says of it. Of what only says that it is a function it would believe whatever
    /// that has.
    fn is(&self, kind: &str) -> PyResult<bool> {
        match pretends(&self.innermost()?)? {
            true => Ok(false),
            false => self.inspect.call_method1(kind, (self.function,))?.is_truthy(),
        }
    }

    /// What runs in the end: without its object, and what else it was given before.
    fn innermost(&self) -> PyResult<Bound<'py, PyAny>> {
        let py = self.function.py();
        let method = py.import("types")?.getattr("MethodType")?;
        let partial = py.import("functools")?.getattr("partial")?;
        let mut own = self.function.clone();
        loop {
            let inner = match own.get_type() {
                kind if kind.is_subclass(&method)? => "__func__",
                kind if kind.is_subclass(&partial)? => "func",
                _ => return Ok(own),
            };
            own = own.getattr(inner)?;
        }
    }

    /// The function written in Python that runs, and whether it is given its object first.
    fn own(&self) -> PyResult<Option<(Bound<'py, PyAny>, bool)>> {
        let inner = match self.is("ismethod")? {
            true => Some(self.function.getattr("__func__")?),
            false => None,
        };
        let (own, is_bound) = (inner.as_ref().unwrap_or(self.function), inner.is_some());
        let is_function = self.inspect.call_method1("isfunction", (own,))?.is_truthy()?;
        Ok((is_function && !pretends(own)?).then(|| (own.clone(), is_bound)))
    }

    /// Whether what a generator function evaluates to can be awaited: `types.coroutine` has said so
    /// in its code, which a method shares, and which `functools.partial` has inside.
    fn is_marked(&self) -> PyResult<bool> {
        let Some(code) = self.innermost()?.getattr_opt("__code__")? else { return Ok(false) };
        let flag: u32 = self.inspect.getattr("CO_ITERABLE_COROUTINE")?.extract()?;
        Ok(code.getattr("co_flags")?.extract::<u32>()? & flag != 0)
    }

    /// Why it cannot be given what the interface gives it, in order; or would, to all appearances,
    /// take one argument for another.
    fn takes_others(
        &self,
        interface: &InterfaceDescriptor,
        is_awaited: bool,
    ) -> PyResult<Option<String>> {
        let Some((own, is_bound)) = self.own()? else { return Ok(None) };
        let takes = Takes::of(self.inspect, (&own, is_bound))?;
        let mut given: Vec<_> = self.procedure.request.parts.iter().map(|part| part.name).collect();
        given.extend(match self.procedure.role {
            Role::OpensTaker { .. } if is_awaited => &["inlet"][..],
            Role::OpensExchange { .. } => &["inlet", "outlet"],
            _ => &[],
        });
        let swapped =
            takes.swapped(&given).map(|(own, name)| format!(": {own} is where {name} is"));
        if takes.fits(given.len()) && swapped.is_none() {
            return Ok(None);
        }
        let (shown, swapped) = (takes.shown(), swapped.unwrap_or_default());
        let given =
            is_bound.then_some("self").into_iter().chain(given).collect::<Vec<_>>().join(", ");
        let calls = format!("{} calls it with ({given}), in this order", interface.name);
        Ok(Some(format!("takes ({shown}), and {calls}{swapped}")))
    }
}

/// Whether it says that it is of another class than it is of, as a mock of a function does.
fn pretends(own: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!own.getattr("__class__")?.is(own.get_type()))
}

/// Of what opens no feed to the client.
const YIELDS: &str = "a generator, and opens no feed to the client: it must not `yield`";

/// What a function written in Python takes: as its code says, which decides, and not what others
/// have written down about it (`__signature__`, `__wrapped__`).
struct Takes {
    /// What may be given without its name, in order.
    names: Vec<String>,
    /// How many of those have to be given: the first ones. The others have a default.
    least: usize,
    /// It is given its object first, whatever it names that.
    is_bound: bool,
    /// What its names are is what it means by them: none is for its position alone, and no other
    /// function's arguments go through it.
    is_telling: bool,
    /// It takes any number more.
    is_open: bool,
    /// What has to be given by its name.
    named: Vec<String>,
}

impl Takes {
    fn of(
        inspect: &Bound<'_, PyModule>,
        (function, is_bound): (&Bound<'_, PyAny>, bool),
    ) -> PyResult<Takes> {
        let code = function.getattr("__code__")?;
        let count = |name: &str| code.getattr(name)?.extract::<usize>();
        let mut names: Vec<String> = code.getattr("co_varnames")?.extract()?;
        let (in_order, by_name) = (count("co_argcount")?, count("co_kwonlyargcount")?);
        names.truncate(in_order + by_name);
        let mut named = names.split_off(in_order);
        if let Ok(defaults) = function.getattr("__kwdefaults__")?.cast_into::<PyDict>() {
            named.retain(|name| !defaults.contains(name).unwrap_or(false));
        }
        let defaults = function.getattr("__defaults__")?.cast_into::<PyTuple>();
        let default_count = defaults.map_or(0, |defaults| defaults.len());
        // Python lets there be more of them than parameters.
        let least = names.len().saturating_sub(default_count);
        let open: usize = inspect.getattr("CO_VARARGS")?.extract()?;
        let is_open = count("co_flags")? & open != 0;
        let is_telling = !is_open
            && count("co_posonlyargcount")? <= usize::from(is_bound)
            && !function.hasattr("__wrapped__")?;
        Ok(Takes { names, least, is_bound, is_telling, is_open, named })
    }

    /// Whether so many can be given in order, besides its object.
    fn fits(&self, given_count: usize) -> bool {
        let count = given_count + usize::from(self.is_bound);
        let is_enough = count >= self.least && self.named.is_empty();
        is_enough && (count <= self.names.len() || self.is_open)
    }

    /// The first one that stands where another is given, if its parameters are all that are given,
    /// and none besides, in another order: nobody means that. Any other names are its own business.
    fn swapped<'t>(&'t self, given: &[&'t str]) -> Option<(&'t str, &'t str)> {
        let own = self.names.iter().skip(usize::from(self.is_bound)).map(String::as_str);
        let is_all = own.len() == given.len() && own.clone().all(|name| given.contains(&name));
        let mut pairs = own.zip(given.iter().copied());
        pairs.find(|(own, name)| self.is_telling && is_all && own != name)
    }

    fn shown(&self) -> String {
        let names = self.names.iter().enumerate();
        let names = names.map(|(index, name)| match index < self.least {
            true => name.clone(),
            false => format!("{name}=..."),
        });
        let rest = match (self.is_open, self.named.is_empty()) {
            (true, _) => Some("*args"),
            (false, false) => Some("*"),
            (false, true) => None,
        };
        let rest = rest.into_iter().map(str::to_owned);
        names.chain(rest).chain(self.named.iter().cloned()).collect::<Vec<_>>().join(", ")
    }
}
