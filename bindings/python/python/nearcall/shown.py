"""How objects of this package, and of generated modules, are shown."""

from __future__ import annotations

__all__ = ["shown"]


def shown(own: object, inner: str) -> str:
    """An object that goes through a native one, by the name of its member: that one says of what it
    is and how it stands. Never raises, whatever a class that inherits makes of that member."""
    kind = type(own)
    module: object = kind.__module__
    is_own = isinstance(module, str) and module.partition(".")[0] == "nearcall"
    package = "nearcall." if is_own else ""
    try:
        native = getattr(own, inner, None)
        # Of a function of it, whose it is.
        native = getattr(native, "__self__", native)
        _, _, rest = repr(native).partition(" ")
    except Exception as error:
        rest = f"whose {inner} raises {type(error).__name__}>"
    return f"<{package}{kind.__name__} {rest or 'that was not made whole>'}"
