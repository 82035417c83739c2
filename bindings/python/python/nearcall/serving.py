"""Which call is served, by a thread or by a task."""

from __future__ import annotations

import contextvars

from nearcall import _native

__all__ = ["SERVED", "current_call"]

#: The call that a task serves; tasks that it begins have it, too, as long as it runs.
SERVED: contextvars.ContextVar[_native.ServedCall | None] = contextvars.ContextVar(
    "nearcall.served", default=None
)


def current_call() -> _native.CurrentCall | None:
    """The call that this thread, or this task, serves; ``None`` outside of a procedure. One look-up
    in a table of bindings: ask once a call."""
    served = SERVED.get()
    own = None if served is None else served.current
    return _native.current_call() if own is None else own
