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
    /// it has to be. Of a function that says whose place it has taken (`functools.wraps`) nobody
    /// can tell.
    fn is_not_awaited(&self) -> PyResult<Option<&'static str>> {
        if matches!(self.procedure.role, Role::OpensSource { .. }) {
            return Ok(match () {
                () if self.is("iscoroutinefunction")? => {
                    Some("a coroutine: its items come of an async generator")
                }
                () if self.is("isgeneratorfunction")? => {
                    Some("a generator: its items come of an async generator")
                }
                () => None,
            });
        }
        if self.is("isasyncgenfunction")? || self.is("isgeneratorfunction")? {
            return Ok((!self.is_marked()?).then_some(YIELDS));
        }
        let is_plain = match self.own()? {
            Some((own, _)) => !own.hasattr("__wrapped__")?,
            None => false,
        };
        let plain = "a plain `def`: the methods of an AsyncServer are awaited, write `async def`";
        Ok((is_plain && !self.is("iscoroutinefunction")?).then_some(plain))
    }

    fn is(&self, kind: &str) -> PyResult<bool> {
        self.inspect.call_method1(kind, (self.function,))?.is_truthy()
    }

    /// The function written in Python that runs, and whether it is given its object first.
    fn own(&self) -> PyResult<Option<(Bound<'py, PyAny>, bool)>> {
        let inner = match self.is("ismethod")? {
            true => Some(self.function.getattr("__func__")?),
            false => None,
        };
        let (own, is_bound) = (inner.as_ref().unwrap_or(self.function), inner.is_some());
        let is_function = self.inspect.call_method1("isfunction", (own,))?.is_truthy()?;
        Ok(is_function.then(|| (own.clone(), is_bound)))
    }

    /// Whether what a generator function evaluates to can be awaited: `types.coroutine` has said so
    /// in its code, which a method shares, and which `functools.partial` has inside.
    fn is_marked(&self) -> PyResult<bool> {
        let mut own = self.function.clone();
        let code = loop {
            if let Some(code) = own.getattr_opt("__code__")? {
                break code;
            }
            let Some(inner) = own.getattr_opt("func")? else { return Ok(false) };
            own = inner;
        };
        let flag: u32 = self.inspect.getattr("CO_ITERABLE_COROUTINE")?.extract()?;
        Ok(code.getattr("co_flags")?.extract::<u32>()? & flag != 0)
    }

    /// Why it cannot be given what the interface gives it, in order; or would take one argument for
    /// another, by their names.
    fn takes_others(
        &self,
        interface: &InterfaceDescriptor,
        is_awaited: bool,
    ) -> PyResult<Option<String>> {
        let Some((own, is_bound)) = self.own()? else { return Ok(None) };
        let takes = Takes::of(self.inspect, &own)?;
        let mut given: Vec<&str> = if is_bound { vec!["self"] } else { Vec::new() };
        given.extend(self.procedure.request.parts.iter().map(|part| part.name));
        given.extend(match self.procedure.role {
            Role::OpensTaker { .. } if is_awaited => &["inlet"][..],
            Role::OpensExchange { .. } => &["inlet", "outlet"],
            _ => &[],
        });
        if takes.fits(&given) {
            return Ok(None);
        }
        let (shown, given) = (takes.shown(), given.join(", "));
        let name = interface.name;
        Ok(Some(format!("takes ({shown}), and {name} calls it with ({given}), in this order")))
    }
}

/// Of what opens no feed to the client.
const YIELDS: &str = "a generator, and opens no feed to the client: it must not `yield`";

/// What a function written in Python takes: as its code says, which decides, and not what others
/// have written down about it (`__signature__`, `__wrapped__`).
struct Takes {
    /// What may be given without its name, in order.
    names: Vec<String>,
    /// How many of those have a default: the last ones.
    default_count: usize,
    /// It takes any number more.
    is_open: bool,
    /// What has to be given by its name.
    named: Vec<String>,
}

impl Takes {
    fn of(inspect: &Bound<'_, PyModule>, function: &Bound<'_, PyAny>) -> PyResult<Takes> {
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
        let open: usize = inspect.getattr("CO_VARARGS")?.extract()?;
        let is_open = count("co_flags")? & open != 0;
        Ok(Takes { names, default_count, is_open, named })
    }

    /// Whether these can be given in order, and none has the name of one in another place.
    fn fits(&self, given: &[&str]) -> bool {
        let least = self.names.len() - self.default_count;
        let is_enough = given.len() >= least && self.named.is_empty();
        let is_room = given.len() <= self.names.len() || self.is_open;
        let mut pairs = self.names.iter().zip(given);
        is_enough && is_room && pairs.all(|(own, name)| own == name || !given.contains(&&**own))
    }

    fn shown(&self) -> String {
        let least = self.names.len() - self.default_count;
        let names = self.names.iter().enumerate();
        let names = names.map(|(index, name)| match index < least {
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
