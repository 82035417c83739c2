"""Feeds: items that come or go one by one, and cross in batches.

A feed that comes is iterated, one that goes is a sink::

    for row in ledger.rows("table"):
        ...

    with ledger.load("table") as load:
        for row in rows:
            load.put(row)
        totals = load.end()
"""

from __future__ import annotations

import abc
import typing

from nearcall._native import Coming, Going
from nearcall.shown import shown

__all__ = ["Feed", "Sink", "Taker"]

Came = typing.TypeVar("Came", covariant=True)
Sent = typing.TypeVar("Sent", contravariant=True)
Made = typing.TypeVar("Made", covariant=True)


class Feed(typing.Generic[Came]):
    """Items that a server sends, in order. Each call of the feed's waits for a batch, as long as
    the deadline of its client says; after an error it is over.

    The server makes no more than is asked for. A feed that is closed, left as a context, or not
    held by anybody any more is given up: its server is told, and nobody waits for that.
    """

    __slots__ = ("_coming", "_items")

    def __init__(self, coming: Coming) -> None:
        self._coming = coming
        self._items: typing.Iterator[Came] = iter(())

    def __repr__(self) -> str:
        return shown(self, "_coming")

    def __iter__(self) -> typing.Self:
        return self

    def __next__(self) -> Came:
        while True:
            for item in self._items:
                return item
            batch = self._coming.batch()
            if batch is None:
                raise StopIteration
            self._items = iter(batch)

    def close(self) -> None:
        """Gives up what has not come yet."""
        self._items = iter(())
        self._coming.give_up()

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


class Sink(typing.Generic[Sent, Made]):
    """Items that a server is sent, in order. After an error it is over.

    Leaving it as a context ends it, and gives it up if something was raised. A sink that is not
    ended, and not held by anybody any more, is given up: its server is told that no more will come.
    """

    __slots__ = ("_going",)

    def __init__(self, going: Going) -> None:
        self._going = going

    def __repr__(self) -> str:
        return shown(self, "_going")

    def put(self, item: Sent) -> None:
        """Sends an item, with others: if a batch is full it waits until the server has taken it.

        An item that is refused here was not put, and the sink stays as it was."""
        if self._going.put(item):
            self._going.flush()

    def flush(self) -> None:
        """Sends what there is, and waits until the server has taken it."""
        self._going.flush()

    def end(self) -> Made:
        """Says that there are no more items; what the server makes of them."""
        made: Made = self._going.end()
        return made

    def close(self) -> None:
        """Gives it up, if it was not ended."""
        self._going.give_up()

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, raised: object, *_more: object) -> None:
        if raised is not None:
            self.close()
        elif not self._going.is_over:
            self.end()


class Taker(abc.ABC, typing.Generic[Sent, Made]):
    """What a procedure returns that is sent items. Its functions run on threads of the domain's,
    one at a time; its client waits meanwhile."""

    __slots__ = ()

    @abc.abstractmethod
    def take(self, item: Sent) -> None:
        """The next item. What it raises ends the feed."""

    @abc.abstractmethod
    def end(self) -> Made:
        """There are no more: what becomes of them."""

    def close(self) -> None:
        """At last, once, whatever ended the feed, if the process lives on."""
