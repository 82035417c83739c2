"""Several calls of one thread at once: posted now, collected later::

    posting = client.posting
    first, second = posting.add(2, 3), posting.add(4, 5)
    print(first.collect(), second.collect())

    sums = nearcall.call_all(pairs, lambda pair: posting.add(*pair))
"""

from __future__ import annotations

import collections
import typing

from nearcall._native import Pending, post_in_haste
from nearcall.errors import NoAStack, Outstanding

__all__ = ["call_all"]

Item = typing.TypeVar("Item")
Made = typing.TypeVar("Made")


@typing.overload
def call_all(
    items: typing.Iterable[Item],
    post: typing.Callable[[Item], Pending[Made]],
    *,
    return_exceptions: typing.Literal[False] = False,
) -> list[Made]: ...


@typing.overload
def call_all(
    items: typing.Iterable[Item],
    post: typing.Callable[[Item], Pending[Made]],
    *,
    return_exceptions: typing.Literal[True],
) -> list[Made | Exception]: ...


def call_all(
    items: typing.Iterable[Item],
    post: typing.Callable[[Item], Pending[Made]],
    *,
    return_exceptions: bool = False,
) -> list[Made] | list[Made | Exception]:
    """Posts a call for each of ``items`` and collects all results, in the order of the items. As
    many calls are under way at once as there are A-stacks to be had; it waits for an A-stack only
    while it has none.

    When all are collected, the first exception is raised, or each stands in the place of its
    result. ``post`` may be asked twice for the same item, after a post that found no A-stack. If
    this is left otherwise, by Ctrl-C or because ``items`` raises, what is under way is cancelled.

    ``post`` is one of the functions of ``client.posting``, or calls one: ``TypeError`` at the first
    item if it calls and does not post.
    """
    calls: _Calls[Item, Made] = _Calls(post)
    try:
        for item in items:
            calls.post(item)
        calls.collect_all()
    except BaseException:
        calls.cancel_all()
        raise
    if not return_exceptions:
        for outcome in calls.outcomes:
            if isinstance(outcome, Exception):
                raise outcome
    return calls.outcomes


class _Calls(typing.Generic[Item, Made]):
    """Calls under way, the oldest first, and what became of those before them."""

    def __init__(self, post: typing.Callable[[Item], Pending[Made]]) -> None:
        self._post = post
        self._under_way: collections.deque[Pending[Made]] = collections.deque()
        self._under_way_max: int | None = None
        self.outcomes: list[Made | Exception] = []

    def post(self, item: Item) -> None:
        if len(self._under_way) == self._under_way_max:
            self._collect()
        while True:
            try:
                if self._under_way:
                    pending = post_in_haste(self._post, item)
                else:
                    pending = self._post(item)
            except Exception as error:
                if isinstance(error, NoAStack | Outstanding) and self._under_way:
                    self._under_way_max = len(self._under_way)
                    self._collect()
                    continue
                self.collect_all()
                self.outcomes.append(error)
            else:
                if not isinstance(pending, Pending):
                    raise TypeError(
                        f"call_all was given a function that returns {type(pending).__name__} "
                        "and posts no call: use those of client.posting"
                    )
                self._under_way.append(pending)
            return

    def collect_all(self) -> None:
        while self._under_way:
            self._collect()

    def cancel_all(self) -> None:
        for pending in self._under_way:
            pending.cancel()

    def _collect(self) -> None:
        try:
            outcome: Made | Exception = self._under_way.popleft().collect()
        except Exception as error:
            outcome = error
        self.outcomes.append(outcome)
