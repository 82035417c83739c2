"""Values of every type make the trip to a server, of Rust and of Python, and back."""

from __future__ import annotations

import array
import ctypes
import math
import types
import typing

import numpy
import pytest

import nearcall

Shapes = types.ModuleType


def test_null_and_add(client: typing.Any) -> None:
    assert client.null() is None
    assert client.add(2, 3) == 5
    assert client.add(2**31 - 1, 1) == -(2**31)


def test_an_attribute_is_read_and_written(client: typing.Any) -> None:
    client.set_level(-5)
    assert client.level() == -5


def test_words(client: typing.Any, shapes: Shapes) -> None:
    packed = shapes.Packed(5, True, 2047)
    results = client.words(
        True, 1, "é", "€", -127, 1, 2**63 - 1, 1, 1.5, 0.1, shapes.Level.LOW, shapes.Rights.READ, packed
    )  # fmt: skip
    a, b, c, d, e, f, g, h, i, j, k, l, m = results
    assert (a, b, c, d, e, f) == (False, 254, "é", "€", 127, 65534)
    assert (g, h, i, j) == (-(2**63 - 1), 2**64 - 2, 3.0, 0.2)
    assert k is shapes.Level.MIDDLE
    assert l == shapes.Rights.READ | shapes.Rights.OWN and isinstance(l, shapes.Rights)
    assert m == shapes.Packed(5, True, -2047)


def test_text(client: typing.Any) -> None:
    assert client.text("né", "€€€") == "né€€€"
    assert client.text("", "") == ""


@pytest.mark.parametrize("count", [0, 1, 48, 1000, 5000, 1 << 20])
def test_bytes_of_any_length(client: typing.Any, count: int) -> None:
    given = bytes(index % 251 for index in range(count))
    assert client.bytes_(given) == given[::-1]
    assert client.bytes_(bytearray(given)) == given[::-1]
    assert client.bytes_(memoryview(given)) == given[::-1]
    assert client.bytes_(numpy.frombuffer(given or b"", numpy.uint8)) == given[::-1]


def test_opaque_bytes_and_exceptions(client: typing.Any, shapes: Shapes) -> None:
    assert client.swap(b"abcde") == (b"ab", b"cde")
    long = bytes([1]) * 100_000
    assert client.swap(long) == (long[:50_000], long[50_000:])
    with pytest.raises(shapes.Gone):
        client.swap(b"")
    with pytest.raises(shapes.Refused) as raised:
        client.swap(b"\0ab")
    refused = raised.value
    assert (refused.why, refused.code) == ("it begins with 0", 3)
    assert refused.place == shapes.Point(1.0, -1.0)
    assert refused.ran is nearcall.Ran.YES and isinstance(refused, nearcall.Raised)
    # Named as they are, also those that were given by name, and cut where they are long.
    shown = str(shapes.Refused(why="w" * 1000, code=3, place=shapes.Point(1.0, -1.0)))
    assert shown.startswith("why='www") and "code=3" in shown and len(shown) < 300


def test_lent_memory_is_filled_in_place(client: typing.Any) -> None:
    lent = client.binding.lend(1 << 20)
    numbers = numpy.frombuffer(lent, numpy.float64)
    assert len(lent) == 1 << 20 and numbers.shape == (1 << 17,) and not numbers.any()
    for value in (0.1, 0.2):
        numbers[:] = value
        first, second = client.swap(lent)
        assert first + second == numbers.tobytes()
    del lent
    numbers[0] = 3.0


def test_lent_memory_is_of_one_binding(client: typing.Any) -> None:
    lent = client.binding.lend(64)
    memoryview(lent)[:1] = b"x"
    other = type(client).import_(client.binding.name)
    with pytest.raises(nearcall.UsageError, match="lent over another binding"):
        other.swap(lent)
    with pytest.raises(nearcall.UsageError, match="limit"):
        client.binding.lend(2 << 30)


@pytest.mark.parametrize("count", [0, 3, 1000, 300_000])
def test_numbers_of_any_container(client: typing.Any, count: int) -> None:
    given = numpy.arange(count, dtype=numpy.float64)
    arrays = (given, array.array("d", given), (ctypes.c_double * count)(*given))
    for container in (*arrays, given.tolist(), tuple(given), memoryview(given)):
        scaled = client.scale(container, 2.0)
        assert isinstance(scaled, numpy.ndarray) and scaled.dtype == numpy.float64
        assert numpy.array_equal(scaled, given * 2)
        assert scaled.flags.writeable


def test_arrays_keep_their_shape(client: typing.Any) -> None:
    one = numpy.arange(6.0).reshape(2, 3)
    turned = client.turn(one, numpy.stack([one + 1, one + 2]))
    assert turned.shape == (3, 2, 3)
    assert numpy.array_equal(turned, numpy.stack([one + 1, one + 2, one]))
    assert numpy.array_equal(client.turn(one.tolist(), []), one[numpy.newaxis])


def test_rows_of_arrays_are_arrays_or_lists(client: typing.Any) -> None:
    one = numpy.arange(6.0).reshape(2, 3)
    turned = client.turn([one[0], array.array("d", one[1])], [one, [one[1], [3.0, 4.0, 5.0]]])
    assert numpy.array_equal(turned[2], one)
    assert numpy.array_equal(turned[1], [one[1], one[1]])
    with pytest.raises(TypeError, match=r"shape \(3\), not \(2\),"):
        client.turn([one[0], one[1][:2]], [])


def test_structs_maps_and_unions(client: typing.Any, shapes: Shapes) -> None:
    person = shapes.Person(
        name="Ada",
        others=["Byron"],
        keys={"a": b"xyz", "b": b""},
        nick="né",
        choice=shapes.Choice(3, "text"),
        weights=numpy.array([1.0, math.inf]),
        place=shapes.Point(0.5, -0.5),
    )
    came_back, where, maybe = client.meet(person, shapes.Maybe(True, 7))
    assert came_back == person and came_back is not person
    assert where == shapes.Point(0.5, -0.5)
    assert maybe == shapes.Maybe(True, -7)
    person.nick = None
    came_back, _, maybe = client.meet(person, shapes.Maybe(False, None))
    assert came_back == person and maybe == shapes.Maybe(False, None)
    person.weights = numpy.array([2.0])
    assert came_back != person


def test_what_holds_itself(client: typing.Any, shapes: Shapes) -> None:
    tree = shapes.Tree(1, [shapes.Tree(2, []), shapes.Tree(3, [])])
    assert client.grow(tree) == shapes.Tree(2, [tree])


@pytest.mark.parametrize("choice", [(1, 5), (2, -5), (3, "text"), (0, 0.5), (-9, math.pi)])
def test_each_case_of_a_union(client: typing.Any, shapes: Shapes, choice: typing.Any) -> None:
    assert client.choose(shapes.Choice(*choice)) == shapes.Choice(*choice)


def test_a_union_is_made_and_asked_by_the_names_of_its_cases(
    client: typing.Any, shapes: Shapes
) -> None:
    assert shapes.Choice.number(5) == shapes.Choice(1, 5)
    assert shapes.Choice.text("text") == shapes.Choice(3, "text")
    # What is left over: zero, which is no label.
    assert shapes.Choice.otherwise(0.5) == shapes.Choice(0, 0.5)
    assert shapes.Maybe.value_(7) == shapes.Maybe(True, 7)
    assert client.choose(shapes.Choice.number(5)).number == 5
    assert client.choose(shapes.Choice.text("text")).text == "text"
    assert client.choose(shapes.Choice(2, 5)).number == 5
    assert client.choose(shapes.Choice(-9, 0.5)).otherwise == 0.5


def test_a_case_that_a_union_has_not_is_no_attribute_of_it(shapes: Shapes) -> None:
    choice = shapes.Choice.text("text")
    with pytest.raises(AttributeError, match="^Choice of discriminator 3 has no number$"):
        choice.number
    assert [hasattr(choice, name) for name in ("number", "text", "otherwise")] == [False, True, False]
    assert getattr(shapes.Maybe(False, None), "value_", 0) == 0
    # A case is not set: the value would be of another one, and the discriminator of this.
    with pytest.raises(AttributeError):
        choice.text = "other"
    match choice:
        case shapes.Choice(number=_) | shapes.Choice(otherwise=_):
            pytest.fail("it has another case")
        case shapes.Choice(text=text):
            assert text == "text"


def test_sequences_of_what_is_no_number(client: typing.Any, shapes: Shapes) -> None:
    assert client.letters(["a", "é"], [shapes.Level.HIGH] * 3) == ["a", "é", "3"]


def test_a_range_that_is_kept(client: typing.Any) -> None:
    assert client.percent(10, [20, 30]) == 60
    assert client.percent(0, numpy.array([100], numpy.int32)) == 100


def test_a_oneway_call_is_made(client: typing.Any) -> None:
    before = client.posted()
    for value in (1, 2, 3):
        client.post(value)
    assert wait_until(lambda: client.posted() == before + 6)


def wait_until(is_so: typing.Callable[[], bool]) -> bool:
    return any(is_so() for _ in range(100_000))
