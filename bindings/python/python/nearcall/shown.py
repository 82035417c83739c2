"""How objects of this package, and of generated modules, are shown."""

from __future__ import annotations

__all__ = ["shown"]


def shown(own: object, inner: str) -> str:
    """An object that goes through a native one, by the name of its member: that one says of what it
    is and how it stands."""
    kind = type(own)
    package = "nearcall." if kind.__module__.partition(".")[0] == "nearcall" else ""
    native = getattr(own, inner, None)
    # Of a function of it, whose it is.
    native = getattr(native, "__self__", native)
    _, _, rest = repr(native).partition(" ")
    return f"<{package}{kind.__name__} {rest or 'that was not made whole>'}"
