"""What the runtime tells, as records of :mod:`logging`. Imported when it first tells something."""

from __future__ import annotations

import atexit
import json
import logging

from nearcall._native import shut_down

__all__ = ["tell"]

# Who sets up no logging is told nothing, as by every library.
logging.getLogger("nearcall").addHandler(logging.NullHandler())

# What is undone last was set up first: handlers are closed behind what the end of the domain tells.
atexit.unregister(shut_down)
atexit.register(shut_down)

#: What is no news: which record it is of is in its name, level and time.
UNTOLD = ("timestamp", "level", "target")


#: Since the last record. One thread tells.
_left_out = 0


def tell(level: int, line: str, left_out: int) -> None:
    """Logs an event, which is an object in JSON, under the name of what tells."""
    global _left_out
    _left_out += left_out
    fields = json.loads(line)
    logger = logging.getLogger(fields["target"].replace("::", "."))
    if not logger.isEnabledFor(level):
        return
    fields = {name: value for name, value in fields.items() if name not in UNTOLD}
    if _left_out:
        fields["left_out"], _left_out = _left_out, 0
    what = ("message", "event")
    said = [str(fields[name]) for name in what if name in fields]
    said += [f"{name}={value}" for name, value in fields.items() if name not in what]
    logger.log(level, "%s", " ".join(said), extra={"nearcall": fields})
