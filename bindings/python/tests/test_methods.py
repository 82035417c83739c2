"""A server's methods that cannot be called as the interface calls them are refused when it is
exported, by name; of callables that do not say what they take, that is left to their calls."""

from __future__ import annotations

import asyncio
import functools
import pathlib
import types
import typing
import unittest.mock

import pytest

import nearcall
from conftest import generated

INTERFACE = """
    module shop {
        interface Till {
            long sum(in long first, in long second);
            void close();
            void count(in long most, @feed in long item);
            @feed long follow(in long most);
        };
    };
"""


@pytest.fixture(scope="module")
def tills(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of it."""
    directory = tmp_path_factory.mktemp("tills")
    (directory / "tills.idl").write_text(INTERFACE)
    return generated(directory / "tills.idl", directory)


class Taker(nearcall.Taker[int, None]):
    """Takes whatever comes."""

    def take(self, item: int) -> None: ...

    def end(self) -> None: ...


def till(tills: types.ModuleType, **methods: object) -> typing.Any:
    """A server, some of whose methods are others than they should be."""
    own: dict[str, object] = {
        "sum": lambda self, first, second: first + second,
        "close": lambda self: None,
        "count": lambda self, most: Taker(),
        "follow": lambda self, most: range(most),
    }
    return type("Till", (tills.TillServer,), own | methods)()


def async_till(tills: types.ModuleType, **methods: object) -> typing.Any:
    """The same, awaited."""

    async def sum_(self: object, first: int, second: int) -> int:
        return first + second

    async def close(self: object) -> None: ...

    async def count(self: object, most: int, inlet: typing.Any) -> None: ...

    async def follow(self: object, most: int) -> typing.AsyncIterator[int]:
        yield most

    own: dict[str, object] = {"sum": sum_, "close": close, "count": count, "follow": follow}
    return type("Till", (tills.TillAsyncServer,), own | methods)()


def says(server: object) -> str:
    with pytest.raises(TypeError) as raised:
        nearcall.export("till", typing.cast(typing.Any, server))
    return str(raised.value)


def test_a_method_that_takes_others_is_refused_by_what_it_takes(tills: types.ModuleType) -> None:
    def refused(takes: str, method: object) -> None:
        sum_ = "and shop::Till calls it with (self, first, second), in this order"
        assert says(till(tills, sum=method)) == f"Till.sum takes ({takes}), {sum_}"

    refused("self, first", lambda self, first: 0)
    refused("self", lambda self: 0)
    refused("", lambda: 0)
    # Without `self`.
    refused("first, second", lambda first, second: 0)
    refused("self, first, second, third", lambda self, first, second, third: 0)
    refused("self, first, *, second", lambda self, first, *, second: 0)
    refused("self, *args, second", lambda self, *first, second: 0)
    refused("self, first, second=..., *, third", lambda self, first, second=0, *, third: 0)
    refused("self, first=...", lambda self, first=0: 0)
    nothing = "Till.close takes (self, why), and shop::Till calls it with (self), in this order"
    assert says(till(tills, close=lambda self, why: None)) == nothing
    static = staticmethod(lambda first: first)
    sum_ = "Till.sum takes (first), and shop::Till calls it with (first, second), in this order"
    assert says(till(tills, sum=static)) == sum_


def test_a_method_with_the_names_in_another_order_is_told_which(tills: types.ModuleType) -> None:
    swapped = "second is where first is"
    calls = f"and shop::Till calls it with (self, first, second), in this order: {swapped}"
    takes = f"Till.sum takes (self, second, first), {calls}"
    assert says(till(tills, sum=lambda self, second, first: 0)) == takes
    # Its object is given by position alone, and they are not.
    assert says(till(tills, sum=lambda self, /, second, first: 0)) == takes
    calls = f"and shop::Till calls it with (first, second), in this order: {swapped}"
    static = staticmethod(lambda second, first=0: 0)
    assert says(till(tills, sum=static)) == f"Till.sum takes (second, first=...), {calls}"


def test_what_opens_a_feed_is_looked_at_with_the_ends_that_it_is_given(
    tills: types.ModuleType,
) -> None:
    follow = "Till.follow takes (self), and shop::Till calls it with (self, most), in this order"
    assert says(till(tills, follow=lambda self: [])) == follow
    assert says(till(tills, count=lambda self, most, inlet: Taker())) == (
        "Till.count takes (self, most, inlet), and shop::Till calls it with (self, most), "
        "in this order"
    )


def test_awaited_methods_are_looked_at_too(tills: types.ModuleType) -> None:
    async def short(self: object, most: int) -> int:
        return most

    async def main() -> None:
        assert says(async_till(tills, sum=short)) == (
            "Till.sum takes (self, most), and shop::Till calls it with (self, first, second), "
            "in this order"
        )
        assert says(async_till(tills, count=short)) == (
            "Till.count takes (self, most), and shop::Till calls it with (self, most, inlet), "
            "in this order"
        )
        with nearcall.export("till", async_till(tills)):
            client = tills.TillAsyncClient.import_("till")
            assert await client.sum(2, 3) == 5

    asyncio.run(main())


def test_what_stands_in_for_an_awaited_method_is_exported(tills: types.ModuleType) -> None:
    async def sum_(self: object, first: int, second: int) -> int:
        return first + second

    def gives(self: object, first: int, second: int) -> typing.Awaitable[int]:
        return sum_(self, first, second)

    stand_ins: list[typing.Any] = [
        unittest.mock.create_autospec(sum_, return_value=5),
        unittest.mock.AsyncMock(return_value=5),
        unittest.mock.AsyncMock(spec=sum_, return_value=5),
        unittest.mock.Mock(spec=sum_, return_value=5),
        functools.wraps(sum_)(gives),
    ]

    async def main(method: typing.Any) -> None:
        with nearcall.export("till", async_till(tills, sum=method)):
            client = tills.TillAsyncClient.import_("till")
            assert await client.sum(2, 3) == 5

    for method in stand_ins:
        asyncio.run(main(method))


def test_what_would_not_run_is_refused(tills: types.ModuleType) -> None:
    def yields(self: object) -> typing.Iterator[None]:
        yield

    async def waits(self: object) -> None: ...

    generator = "is a generator, and opens no feed to the client: it must not `yield`"
    assert says(till(tills, close=yields)) == f"Till.close {generator}"
    assert says(till(tills, close=waits)).startswith("Till.close is `async def`: only")
    assert says(till(tills, sum=7)) == "Till.sum is no method: int cannot be called"
    assert says(till(tills, sum=None)) == "Till.sum is no method: NoneType cannot be called"

    def items(self: object, most: int) -> typing.Iterator[int]:
        yield from range(most)

    # What does open one may.
    with nearcall.export("till", till(tills, follow=items)):
        assert list(tills.TillClient.import_("till").follow(3)) == [0, 1, 2]


def wrapped(function: typing.Callable[..., int]) -> typing.Callable[..., int]:
    """Gives it one more, and says that it is what it wraps."""

    @functools.wraps(function)
    def given(self: object, *arguments: int) -> int:
        return function(self, 100, *arguments)

    return given


def passed_on(function: typing.Callable[..., int]) -> typing.Callable[..., int]:
    """Names its object as the interface names a parameter."""

    @functools.wraps(function)
    def given(second: object, *arguments: int) -> int:
        return function(second, *arguments)

    return given


def turned(function: typing.Callable[..., int]) -> typing.Callable[..., int]:
    """Has the names in another order, and says that it is what it wraps."""

    @functools.wraps(function)
    def given(self: object, second: int, first: int) -> int:
        return function(self, second, first)

    return given


def many_defaults() -> typing.Callable[..., int]:
    """Has more of them than parameters."""

    def summed(self: object, first: int, second: int) -> int:
        return first + second

    summed.__defaults__ = (1, 2, 3, 4, 5)
    return summed


class Callable:
    """An object that can be called."""

    def __call__(self, *arguments: int) -> int:
        return sum(arguments)


def max_of(self: object, first: int, second: int) -> int:
    return max(first, second)


FITS: dict[str, tuple[object, int]] = {
    "more than it is given, with a default": (lambda self, a, b, c=7: a + b + c, 12),
    "other names": (lambda self, left, right: left + right, 5),
    "names of others": (lambda self, second, third: second + third, 5),
    "names of others, and a default": (lambda self, second, first, more=1: second - first, -1),
    "a name of another, given twice": (lambda first, second, third: second + third, 5),
    "the names, its object's among them": (lambda second, first, own: first + own, 5),
    "in another order, by position alone": (lambda self, second, first, /: second - first, -1),
    "in another order, one by position alone": (lambda self, second, /, first: second - first, -1),
    "in another order, and any number": (lambda self, second, first, *more: second - first, -1),
    "in another order, wraps another": (turned(lambda self, first, second: first - second), -1),
    "passes on all": (passed_on(lambda self, first, second: first + second), 5),
    "more defaults than parameters": (many_defaults(), 5),
    "any number": (lambda self, *numbers: sum(numbers), 5),
    "one and any number": (lambda self, first, *others: first + sum(others), 5),
    "by name, with a default": (lambda self, a, b, *, c=7: a + b + c, 12),
    "an object that can be called": (Callable(), 5),
    "partial": (functools.partial(lambda a, b, c: a + b + c, 100), 105),
    "a method with a part": (functools.partialmethod(lambda self, *all: sum(all), 100), 105),
    "in C": (max, 3),
    "in C, without a signature": (staticmethod(min), 2),
    "wraps another": (wrapped(lambda self, a, b, c: a + b + c), 105),
    "static": (staticmethod(lambda a, b: a + b), 5),
    "of the class": (classmethod(lambda cls, a, b: a + b), 5),
    "a mock": (unittest.mock.Mock(return_value=5), 5),
    "a mock of many kinds": (unittest.mock.MagicMock(return_value=5), 5),
    "a mock of a function": (unittest.mock.Mock(spec=max_of, return_value=5), 5),
    "a mock of many kinds of a function": (unittest.mock.MagicMock(spec=max_of, return_value=5), 5),
    "a part of a mock of a function": (
        staticmethod(functools.partial(unittest.mock.Mock(spec=max_of, return_value=5))),
        5,
    ),
    "a function that stands in": (unittest.mock.create_autospec(max_of, return_value=5), 5),
    "a property": (property(lambda self: lambda a, b: a + b), 5),
}


@pytest.mark.parametrize("kind", FITS)
def test_what_may_fit_is_exported(tills: types.ModuleType, kind: str) -> None:
    method, total = FITS[kind]
    with nearcall.export("till", till(tills, sum=method)):
        assert tills.TillClient.import_("till").sum(2, 3) == total


def test_what_is_no_server_is_told_as_what_it_is(tills: types.ModuleType) -> None:
    wanted = "where an object of a generated server class is wanted"
    assert says(tills.TillServer) == f"the class TillServer {wanted}"
    assert says("till") == f"str {wanted}"

    class Own(nearcall.Server):
        """Of no interface."""

    assert says(Own()) == f"Own {wanted}"
    # Nothing is left behind of what was refused.
    says(till(tills, sum=lambda self: 0))
    nearcall.export("till", till(tills)).withdraw()
