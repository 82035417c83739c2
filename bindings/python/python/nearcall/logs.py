"""What the runtime tells, as records of :mod:`logging`. Imported when it first tells something."""

from __future__ import annotations

import json
import logging

__all__ = ["tell"]

# Who sets up no logging is told nothing, as by every library.
logging.getLogger("nearcall").addHandler(logging.NullHandler())

#: What is no news: which record it is of is in its name, level and time.
UNTOLD = ("timestamp", "level", "target")


def tell(level: int, line: str, left_out: int) -> None:
    """Logs an event, which is an object in JSON, under the name of what tells."""
    fields = json.loads(line)
    logger = logging.getLogger(fields["target"].replace("::", "."))
    if not logger.isEnabledFor(level):
        return
    fields = {name: value for name, value in fields.items() if name not in UNTOLD}
    if left_out:
        fields["left_out"] = left_out
    what = ("message", "event")
    said = [str(fields[name]) for name in what if name in fields]
    said += [f"{name}={value}" for name, value in fields.items() if name not in what]
    logger.log(level, "%s", " ".join(said), extra={"nearcall": fields})
