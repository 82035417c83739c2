"""What is not of its type is refused by name before anything is sent; what a server sends that is
not of its type is an exception, and never a crash."""

from __future__ import annotations

import array as array_module
import math
import pathlib
import sys
import types
import typing

import numpy
import pytest

import nearcall
from nearcall import raw
from conftest import PROGRAMS, Process, generated, imported

Shapes = types.ModuleType


def refused(call: typing.Callable[[], object], *words: str) -> None:
    with pytest.raises(nearcall.UsageError) as raised:
        call()
    for word in words:
        assert word in str(raised.value)
    assert raised.value.ran is nearcall.Ran.NO


def test_bounds_name_parameter_value_and_limit(rust: typing.Any, shapes: Shapes) -> None:
    refused(lambda: rust.text("123456789", ""), "narrow", "9", "8")
    refused(lambda: rust.text("ééééé", ""), "narrow", "10", "8")
    refused(lambda: rust.text("", "1234"), "wide", "4", "3")
    refused(lambda: rust.narrow(numpy.zeros(5, numpy.float32)), "given", "5", "4")
    refused(lambda: rust.narrow([0.0] * 5), "given", "5", "4")
    refused(lambda: rust.choose(shapes.Choice(3, "longer")), "given", "6", "5")
    rust.null()


def test_what_is_over_a_bound_or_out_of_range_is_told_with_its_place(
    rust: typing.Any, shapes: Shapes
) -> None:
    too_much = "101, allowed is 0 to 100"
    refused(lambda: rust.percent(101, []), f"given is {too_much}")
    refused(lambda: rust.percent(0, [1, 101]), f"all[1] is {too_much}")
    refused(lambda: rust.percent(0, numpy.array([1, 2, 101], numpy.int32)), f"all[2] is {too_much}")
    refused(lambda: rust.grow(shapes.Tree(0, [shapes.Tree(1 << 40, [])])), "given.below[0].value is")
    refused(lambda: rust.choose(shapes.Choice(3, "longer")), "given.value has 6 bytes")

    def person(names: list[str], keys: dict[str, bytes]) -> typing.Any:
        choice, nowhere = shapes.Choice(1, 1), shapes.Point(0.0, 0.0)
        return shapes.Person("Ann", names, keys, choice, numpy.zeros(0), nowhere)

    def meet(names: list[str], keys: dict[str, bytes]) -> object:
        return rust.meet(person(names, keys), shapes.Maybe(False, None))

    refused(lambda: meet(["Bob", "Alexandra"], {}), "given.others[1] has 9 bytes")
    refused(lambda: meet(["Bob"] * 3, {}), "given.others has 3 bytes or elements, its limit is 2")
    refused(lambda: meet([], {"home": b"1234"}), "given.keys['home'] has 4 bytes")

    class Shy(str):
        def __repr__(self) -> str:
            raise RuntimeError("it is not shown")

    refused(lambda: meet([], {Shy("home"): b"1234"}), "given.keys[...] has 4 bytes")


def test_a_number_of_an_array_that_is_out_of_range_is_told_with_its_indices(
    tmp_path: pathlib.Path,
) -> None:
    interface = tmp_path / "grids.idl"
    interface.write_text(
        "@range(min = 0, max = 9) typedef double Cell; typedef Cell Grid[2][3];"
        "interface Grids { void take(in Grid given, in sequence<Grid> more); };"
    )
    grids = generated(interface, tmp_path)

    class Taking(grids.GridsServer):  # type: ignore[misc, name-defined]
        def take(self, given: object, more: object) -> None:
            pytest.fail(f"{given}, {more} have come")

    with nearcall.export("grids", Taking()):
        client = grids.GridsClient.import_("grids")
        good, bad = numpy.zeros((2, 3)), numpy.zeros((2, 3))
        bad[1, 2] = 10
        refused(lambda: client.take(bad, []), "given[1][2] is 10.0, allowed is 0.0 to 9.0")
        refused(lambda: client.take(good, [good, bad]), "more[1][1][2] is 10.0")
        refused(lambda: client.take(good, numpy.stack([good, bad])), "more[1][1][2] is 10.0")


def test_a_discriminator_that_is_none_is_told_as_that(tmp_path: pathlib.Path) -> None:
    interface = tmp_path / "kinds.idl"
    interface.write_text(
        "enum Kind { A, B };"
        "union Held switch (Kind) { case A: long number; case B: string text; };"
        "interface Kinds { void take(in sequence<Held> given); };"
    )
    kinds = generated(interface, tmp_path)

    class Taking(kinds.KindsServer):  # type: ignore[misc, name-defined]
        def take(self, given: object) -> None:
            pytest.fail(f"{given} has come")

    with nearcall.export("kinds", Taking()):
        client = kinds.KindsClient.import_("kinds")
        given = [kinds.Held(9, 1)]
        refused(lambda: client.take(given), "given[0].discriminator is 9, allowed is A (0)")


def test_numbers_outside_of_their_type(rust: typing.Any, shapes: Shapes) -> None:
    for number in (2**31, -(2**31) - 1, 2**64, 10**40):
        refused(lambda: rust.add(number, 0), f"a is {number}, allowed is -2147483648 to 2147483647")
    refused(lambda: rust.percent(101, []), "given is 101, allowed is 0 to 100")
    refused(lambda: rust.percent(0, [1, 101]), "all[1] is 101, allowed is 0 to 100")
    refused(lambda: rust.percent(0, numpy.array([-1], numpy.int32)), "all[0] is -1, allowed is 0 to 100")
    refused(lambda: rust.narrow([1e300]), "given[0]")
    refused(lambda: rust.letters(["€"], []), "given[0] is '€'")
    levels = "levels[0] is 5, allowed is LOW (0), MIDDLE (7) or HIGH (8)"
    refused(lambda: rust.letters([], [5]), levels)


def test_wrong_types_are_type_errors(rust: typing.Any, shapes: Shapes) -> None:
    wrong: list[typing.Callable[[], object]] = [
        lambda: rust.add("1", 2),
        lambda: rust.add(1.5, 2),
        lambda: rust.add(1),
        lambda: rust.text(b"", ""),
        lambda: rust.bytes_("text"),
        lambda: rust.bytes_(numpy.zeros(2)),
        lambda: rust.scale(numpy.zeros(2, numpy.float32), 1.0),
        lambda: rust.scale(numpy.zeros((2, 2)), 1.0),
        lambda: rust.scale(numpy.zeros(4)[::2], 1.0),
        lambda: rust.scale("12", 1.0),
        lambda: rust.turn(numpy.zeros((3, 2)), []),
        lambda: rust.turn([[0.0] * 3] * 3, []),
        lambda: rust.grow(shapes.Choice(1, 1)),
        lambda: rust.choose(shapes.Choice(1, "text")),
        lambda: rust.letters(["ab"], []),
    ]
    for call in wrong:
        with pytest.raises(TypeError):
            call()
    assert rust.add(1, 2) == 3


def test_numbers_of_another_byte_order_are_not_taken_for_others(rust: typing.Any) -> None:
    for reversed_ in (numpy.ones(4, ">f8"), numpy.arange(4.0).astype(">f8")):
        with pytest.raises(TypeError, match="^given: ndarray of >f8 where one of float64 is"):
            rust.scale(reversed_, 1.0)
    # One byte has no order, and this is the order that messages have.
    assert rust.bytes_(numpy.arange(3, dtype=">u1")) == b"\2\1\0"
    assert list(rust.scale(numpy.ones(2, "<f8"), 2.0)) == [2.0, 2.0]


def test_a_wrong_type_says_what_it_is_of(rust: typing.Any, shapes: Shapes) -> None:
    def says(call: typing.Callable[[], object]) -> str:
        with pytest.raises(TypeError) as raised:
            call()
        return str(raised.value)

    assert says(lambda: rust.add(1, "2")) == "b: str where an int is wanted"
    tree = shapes.Tree(1, [shapes.Tree("2", [])])
    assert says(lambda: rust.grow(tree)) == "given.below[0].value: str where an int is wanted"
    assert says(lambda: rust.scale([], "1")) == "factor: str where a float is wanted"
    assert says(lambda: rust.scale([], float)) == "factor: type where a float is wanted"
    assert says(lambda: rust.scale([None], 1.0)) == "given[0]: NoneType where a float is wanted"


def test_a_wrong_element_is_told_with_its_place(rust: typing.Any, shapes: Shapes) -> None:
    def says(call: typing.Callable[[], object]) -> str:
        with pytest.raises(TypeError) as raised:
            call()
        return str(raised.value)

    a_float = "str where a float is wanted"
    assert says(lambda: rust.scale([0.0, 1.0, 2.0, "3"], 1.0)) == f"given[3]: {a_float}"
    assert says(lambda: rust.turn([[0.0] * 3, [0.0, "1", 2.0]], [])) == f"one[1][1]: {a_float}"
    good, bad = [[0.0] * 3] * 2, [[0.0] * 3, numpy.zeros(3, numpy.int16)]
    assert says(lambda: rust.turn(good, [good, bad])).startswith("all[1][1]: ndarray of int16")
    short = "all[1]: list where a sequence of 2 is wanted"
    assert says(lambda: rust.turn(good, [good, [1.0]])) == short
    assert says(lambda: rust.letters([], [0, None])) == "levels[1]: NoneType where an int is wanted"
    tree = shapes.Tree(1, [shapes.Tree(2, []), shapes.Tree(3, [shapes.Tree(4, []), 5])])
    assert says(lambda: rust.grow(tree)) == "given.below[1].below[1]: int where a Tree is wanted"
    choice = shapes.Choice(1, "1")
    assert says(lambda: rust.choose(choice)) == "given.value: str where an int is wanted"
    assert says(lambda: rust.choose(shapes.Choice("1", 1))).startswith("given.discriminator: str")


def test_a_wrong_entry_of_a_map_is_told_with_its_key(rust: typing.Any, shapes: Shapes) -> None:
    def says(keys: typing.Any) -> str:
        no_weights, nowhere = numpy.zeros(0), shapes.Point(0.0, 0.0)
        person = shapes.Person("Ann", [], keys, shapes.Choice(4, 0.5), no_weights, nowhere)
        with pytest.raises(TypeError) as raised:
            rust.meet(person, shapes.Maybe(False, None))
        return str(raised.value)

    octets = "where bytes or a buffer of bytes is wanted"
    assert says({"home": b"1", "work": 2}) == f"given.keys['work']: int {octets}"
    assert says({"home": b"1", 7: b"2"}) == "given.keys, key 7: int where a str is wanted"
    key = str((0,) * 90)[:40]
    assert says({(0,) * 90: b""}) == f"given.keys, key {key}...: tuple where a str is wanted"


def test_an_array_of_another_type_is_told_both_and_the_way_out(rust: typing.Any) -> None:
    def says(call: typing.Callable[[], object]) -> str:
        with pytest.raises(TypeError) as raised:
            call()
        return str(raised.value)

    way = ': .astype("float64") makes it that'
    # What would lose more than digits is not advised.
    ways = {"int64": way, "float32": way, "bool": way, "object": "", "complex128": ""}
    for found, way in ways.items():
        array = numpy.zeros(2, found)
        why = f"ndarray of {found} where one of float64 is wanted{way}"
        assert says(lambda: rust.scale(array, 1.0)) == f"given: {why}"
    assert list(rust.scale(numpy.ones(2, "int64").astype("float64"), 2.0)) == [2.0, 2.0]
    why = "ndarray of float64 where one of uint8 is wanted"
    assert says(lambda: rust.bytes_(numpy.zeros(2))) == f"given: {why}"
    # What is none of NumPy's has nothing of the kind.
    numbers = array_module.array("f", [1.0])
    assert says(lambda: rust.scale(numbers, 1.0)) == (
        'given: array where a buffer of float64, not of "f", is wanted'
    )
    whole = "a buffer of float64 in one piece (see numpy.ascontiguousarray)"
    assert says(lambda: rust.scale(numpy.zeros(4)[::2], 1.0)) == (
        f"given: ndarray of float64 where {whole} is wanted"
    )


def test_an_array_of_what_is_no_number_is_told_by_its_elements(
    rust: typing.Any, shapes: Shapes
) -> None:
    def says(call: typing.Callable[[], object]) -> str:
        with pytest.raises(TypeError) as raised:
            call()
        return str(raised.value)

    others: dict[str, typing.Any] = {
        "datetime64[ns]": numpy.zeros(2, "datetime64[ns]"),
        "timedelta64[s]": numpy.zeros(2, "timedelta64[s]"),
        "object": numpy.zeros(2, object),
        "<U2": numpy.array(["1", "22"]),
        "|S2": numpy.array([b"1", b"22"]),
        "complex64": numpy.zeros(2, numpy.complex64),
        "[('x', '<f8')]": numpy.zeros(2, [("x", numpy.float64)]),
        "|V4": numpy.zeros(2, "V4"),
        "StringDType()": numpy.array(["1", "22"], numpy.dtypes.StringDType()),
    }
    for elements, array in others.items():
        told = f"ndarray of {elements} where one of float64 is wanted"
        assert says(lambda: rust.scale(array, 1.0)) == f"given: {told}"
        assert says(lambda: rust.turn([[0.0] * 3, array], [])) == f"one[1]: {told}"
        octets = says(lambda: rust.bytes_(array))
        assert octets.startswith(f"given: ndarray of {elements} where ")
    half = 'ndarray of float16 where one of float64 is wanted: .astype("float64") makes it that'
    assert says(lambda: rust.scale(numpy.zeros(2, numpy.float16), 1.0)) == f"given: {half}"
    # An array stands for no list of others, whatever it has.
    choices = "levels: ndarray of int64 where a sequence is wanted: .tolist() makes a list"
    assert says(lambda: rust.letters([], numpy.zeros(2, numpy.int64))) == choices


def test_what_numpy_would_make_a_float_of_is_none(rust: typing.Any) -> None:
    text, times = numpy.str_("1.5"), numpy.datetime64("2020")
    for one in (numpy.complex64(1 + 2j), numpy.complex128(1 + 2j), text, numpy.bytes_(b"1"), times):
        for call in (lambda: rust.scale([0.0, one], 1.0), lambda: rust.scale([], one)):
            told = rf": {type(one).__name__} where a float is wanted$"
            with pytest.raises(TypeError, match=told):
                call()


def test_an_array_is_no_number(rust: typing.Any) -> None:
    for array in (numpy.zeros(2), numpy.zeros(0, "int64"), numpy.zeros(2, "datetime64[s]")):
        told = f"ndarray of {array.dtype}".replace("[", r"\[").replace("]", r"\]")
        with pytest.raises(TypeError, match=f"^a: {told} where an int is wanted$"):
            rust.add(array, 1)
        with pytest.raises(TypeError, match=f"^factor: {told} where a float is wanted$"):
            rust.scale([], array)
    assert rust.add(numpy.array(2), 3) == 5
    assert list(rust.scale([2.0], numpy.array(1.5))) == [3.0]
    assert list(rust.scale([numpy.float16(1.5), numpy.int8(2)], 2.0)) == [3.0, 4.0]


def test_a_masked_array_that_marks_anything_is_refused(rust: typing.Any, shapes: Shapes) -> None:
    def says(call: typing.Callable[[], object]) -> str:
        with pytest.raises(TypeError) as raised:
            call()
        return str(raised.value)

    marked = numpy.ma.masked_array([1.0, -999.0], mask=[False, True])
    octets = numpy.ma.masked_array([1, 2], mask=[False, True], dtype="uint8")
    truths = numpy.ma.masked_array([1, 2], mask=[True, True])
    rows = numpy.ma.masked_array(numpy.zeros((2, 3)), mask=[[False] * 3, [True] + [False] * 2])
    why = "whose mask marks what is no value: .filled(value) or .compressed() makes an array without it"
    own = f"MaskedArray {why}"
    person = shapes.Person("", [], {}, shapes.Choice(1, 1), marked, shapes.Point(1.0, 2.0))
    assert says(lambda: rust.scale(marked, 1.0)) == f"given: {own}"
    assert says(lambda: rust.bytes_(octets)) == f"given: {own}"
    assert says(lambda: rust.swap(octets)) == f"given: {own}"
    assert says(lambda: rust.turn(rows, [])) == f"one: {own}"
    assert says(lambda: rust.turn([rows[0], rows[1]], [])) == f"one[1]: {own}"
    assert says(lambda: rust.letters([], truths)) == f"levels: {own}"
    assert says(lambda: rust.meet(person, shapes.Maybe(False, None))) == f"given.weights: {own}"
    # So are its elements: that is what iterating over it gives.
    one = f"MaskedConstant {why}"
    assert says(lambda: rust.scale(list(marked), 1.0)) == f"given[1]: {one}"
    assert says(lambda: rust.scale([], marked[1])) == f"factor: {one}"
    assert says(lambda: rust.add(1, numpy.ma.array(5, mask=True))) == f"b: {own}"


def test_a_masked_array_that_marks_nothing_is_sent(rust: typing.Any) -> None:
    marked = numpy.ma.masked_array([1.0, -999.0], mask=[False, True])
    for whole in (
        numpy.ma.masked_array([1.0, 2.0]),
        numpy.ma.masked_array([1.0, 2.0], mask=[False, False]),
        marked.filled(2.0),
    ):
        assert list(rust.scale(whole, 2.0)) == [2.0, 4.0]
        assert list(rust.scale(list(whole), 2.0)) == [2.0, 4.0]
    assert list(rust.scale(marked.compressed(), 2.0)) == [2.0]


def test_what_a_value_raises_is_noted_as_what_it_is_of(rust: typing.Any) -> None:
    class Heavy:
        def __float__(self) -> float:
            raise ZeroDivisionError("no weight")

    with pytest.raises(ZeroDivisionError) as raised:
        rust.scale([], Heavy())
    assert str(raised.value) == "no weight"
    assert raised.value.__notes__ == ["of the argument factor"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, TypeError, ZeroDivisionError])
def test_a_value_is_asked_once_what_it_is(rust: typing.Any, kind: type[BaseException]) -> None:
    asked: list[str] = []

    def answer(name: str) -> int:
        asked.append(name)
        if asked.count(name) == 1:
            raise kind("once")
        return 1

    class Once:
        def __float__(self) -> float:
            return float(answer("__float__"))

        def __index__(self) -> int:
            return answer("__index__")

    with pytest.raises(kind, match="^once"):
        rust.scale([], Once())
    with pytest.raises(kind, match="^once"):
        rust.add(1, Once())
    assert asked == ["__float__", "__index__"]
    assert rust.add(1, Once()) == 2


def test_a_wrong_shape_is_told_beside_the_right_one(rust: typing.Any) -> None:
    with pytest.raises(TypeError, match=r"shape \(any\), not \(2 x 2\),"):
        rust.scale(numpy.zeros((2, 2)), 1.0)
    with pytest.raises(TypeError, match=r"shape \(2 x 3\), not \(3 x 2\),"):
        rust.turn(numpy.zeros((3, 2)), [])
    refused(lambda: rust.narrow([1e300]), "given[0] is 1e300, allowed is -3.4028235e38 to 3.4028235e38")


def test_a_server_learns_which_of_its_results_was_refused(
    shapes: Shapes, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Base(shapes.BaseServer):  # type: ignore[misc, name-defined]
        def null(self) -> None:
            pass

        def add(self, a: int, b: int) -> int:
            return 2**31

    shown: list[tuple[str, type]] = []
    note = lambda error: shown.append((str(error.exc_value), error.exc_type))  # noqa: E731
    monkeypatch.setattr(sys, "unraisablehook", note)
    with nearcall.export("too-much", Base()):
        with pytest.raises(nearcall.ResultsRefused):
            shapes.BaseClient.import_("too-much").add(1, 2)
    message = "returned is 2147483648, allowed is -2147483648 to 2147483647"
    assert shown == [(message, nearcall.ResultsRefused)]


def test_what_is_no_server_is_not_exported() -> None:
    with pytest.raises(TypeError, match="^object where an object of a generated server class"):
        nearcall.export("nothing", object())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ShapesClient", "ShapesAsyncClient"])
def test_a_name_is_imported_and_no_client_is_made_of_it(shapes: Shapes, name: str) -> None:
    why = rf"str where a Binding is wanted: {name}.import_\(name\) makes one"
    with pytest.raises(TypeError, match=why):
        getattr(shapes, name)("shapes")


def test_procedures_that_would_have_to_be_awaited_are_not_exported(shapes: Shapes) -> None:
    class Awaited(shapes.BaseServer):  # type: ignore[misc, name-defined]
        async def null(self) -> None:
            pass

        def add(self, a: int, b: int) -> int:
            return a + b

    told = "^Awaited.null is `async def`: only the methods of an AsyncServer"
    with pytest.raises(TypeError, match=told):
        nearcall.export("awaited", Awaited())


def test_several_results_are_a_tuple(shapes: Shapes, monkeypatch: pytest.MonkeyPatch) -> None:
    def meet(self: object, *given: typing.Any) -> object:
        person, maybe = given
        return [person, person.place, maybe]

    served = dict.fromkeys(shapes.ShapesServer.__abstractmethods__, meet)
    server = type("Served", (shapes.ShapesServer,), served)()
    shown: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: shown.append(str(error.exc_value)))
    person = shapes.Person(
        "", [], {}, shapes.Choice(1, 1), numpy.zeros(0), shapes.Point(1.0, 2.0)
    )
    with nearcall.export("a-list", server):
        with pytest.raises(nearcall.Panicked):
            shapes.ShapesClient.import_("a-list").meet(person, shapes.Maybe(False, None))
    assert shown == ["meet returns 3 values, not a value of type list"]


def test_what_has_no_end_is_refused(rust: typing.Any, shapes: Shapes) -> None:
    tree = shapes.Tree(1, [])
    tree.below.append(tree)
    refused(lambda: rust.grow(tree))


def test_half_a_character_is_no_text(rust: typing.Any) -> None:
    with pytest.raises(UnicodeEncodeError):
        rust.text("\ud800", "")


def test_nan_is_a_number_like_others(rust: typing.Any) -> None:
    assert math.isnan(rust.scale([math.nan], 1.0)[0])


@pytest.fixture
def hostile(
    start: typing.Callable[..., Process], shapes: Shapes
) -> typing.Callable[[], typing.Any]:
    start(PROGRAMS / "hostile-server", "hostile")
    return lambda: shapes.ShapesClient.import_("hostile")


def lies(shapes: Shapes) -> dict[str, typing.Callable[[typing.Any], object]]:
    """Calls whose results are no values of their types."""
    words = (
        True, 1, "c", "d", 1, 1, 1, 1, 1.0, 1.0, shapes.Level.LOW, shapes.Rights.READ,
        shapes.Packed(0, False, 0),
    )  # fmt: skip
    return {
        "an exception that is not declared": lambda client: client.null(),
        "one more exception": lambda client: client.swap(b"1"),
        "a message that ends early": lambda client: client.text("", ""),
        "a length over the message": lambda client: client.bytes_(b""),
        "booleans and enumerators": lambda client: client.words(*words),
        "more elements than bytes": lambda client: client.scale([], 1.0),
        "trees too deep": lambda client: client.grow(shapes.Tree(1, [])),
        "text over its bound": lambda client: client.choose(shapes.Choice(1, 1)),
        "no UTF-8": lambda client: client.choose(shapes.Choice(3, "hello")),
        "out of range": lambda client: client.percent(1, []),
        "letters from nowhere": lambda client: client.letters([], []),
        "matrices from nowhere": lambda client: client.turn([[0.0] * 3] * 2, []),
        "people from nowhere": lambda client: client.meet(
            shapes.Person("", [], {}, shapes.Choice(1, 1), [], shapes.Point(0.0, 0.0)),
            shapes.Maybe(False, None),
        ),
    }


def test_a_lying_server_is_blamed(
    hostile: typing.Callable[[], typing.Any], shapes: Shapes
) -> None:
    for what, call in lies(shapes).items():
        client = hostile()
        with pytest.raises(nearcall.Peer) as raised:
            call(client)
        assert raised.value.ran is nearcall.Ran.MAYBE, what
        assert client.binding.is_revoked, what
        with pytest.raises(nearcall.NotExecuted):
            client.level()


def test_a_server_whose_results_are_wrong_is_told(python: typing.Any) -> None:
    with pytest.raises(nearcall.ResultsRefused):
        python.percent(100, [100])
    assert python.percent(1, [1]) == 2


def test_a_lying_client_is_refused(
    client: typing.Any, shapes: Shapes, tmp_path: pathlib.Path
) -> None:
    """A client whose tables say octets where the interface says text, and so on: the same hash, and
    arguments that are no values of their types."""
    text = pathlib.Path(shapes.__file__ or "").read_text()
    lies = {
        '(("narrow", ("string", 8), ("text",': '(("narrow", ("sequence", "octet", None), ("octets",',
        '(("a", "boolean", ("word",': '(("a", "octet", ("word",',
        '("k", 0, ("word",': '("k", "u4", ("word",',
        '("l", 1, ("word",': '("l", "u1", ("word",',
        '(("given", 3, ("marshalled",': '(("given", ("sequence", "octet", None), ("octets",',
    }
    for true, lie in lies.items():
        assert true in text, true
        text = text.replace(true, lie)
    (tmp_path / "lying.py").write_text(text)
    lying = imported(tmp_path / "lying.py")
    liar = lying.ShapesClient.import_(client.binding.name)

    def words(a: int, k: int, l: int) -> object:
        packed = lying.Packed(0, False, 0)
        return liar.words(a, 0, "c", "d", 0, 0, 0, 0, 0.0, 0.0, k, l, packed)

    assert words(1, 7, 1)
    assert liar.text(b"true", "") == "true"
    calls: list[typing.Callable[[], object]] = [
        lambda: words(2, 0, 0),
        lambda: words(0, 5, 0),
        lambda: words(0, 0, 4),
        lambda: liar.text(b"\xff", ""),
        lambda: liar.text(b"123456789", ""),
        lambda: liar.choose(b""),
        lambda: liar.choose(bytes([3, 0, 0, 0, 255, 255, 255, 255])),
        lambda: liar.choose(bytes([1, 0, 0, 0, 1, 0, 0, 0, 9])),
    ]
    for call in calls:
        with pytest.raises(nearcall.NotExecuted) as raised:
            call()
        assert raised.value.ran is nearcall.Ran.NO
    assert client.add(2, 3) == 5


def test_a_table_that_does_not_hold_together_is_refused() -> None:
    types_ = raw.Types((("struct", object, (("a", "i4"),)),))

    def interface(part: tuple[object, ...], fixed_bytes: int = 4, variable_at: int = 0) -> object:
        message = (fixed_bytes, variable_at, (part,))
        row = ("f", "0", 0, False, False, False, "f", message, (0, 0, ()), ())
        return raw.Interface(types_, "I", "0", ((64, 1),), (row,))

    assert interface(("a", "i4", ("word", 0)))
    wrong: list[typing.Callable[[], object]] = [
        lambda: interface(("a", "i4", ("word", 1))),
        lambda: interface(("a", "i4", ("word", 2**63))),
        lambda: interface(("a", "i4", ("word", 0)), fixed_bytes=113),
        lambda: interface(("a", 1, ("word", 0))),
        lambda: interface(("a", 0, ("word", 0))),
        lambda: interface(("a", 0, ("members", ()))),
        lambda: interface(("a", "i4", ("members", (("word", 0),)))),
        lambda: interface(("a", ("string", None), ("octets", 0))),
        lambda: interface(("a", ("sequence", "octet", None), ("lent", 0)), variable_at=8),
        lambda: interface(("a", "i9", ("word", 0))),
        lambda: interface(("a", ("array", "f8", (2**40, 2**40)), ("image", 0, 4))),
        lambda: interface(("a", "i4", ("descriptor", "folder"))),
        lambda: interface(("a", 0, ("members", (("descriptor", 0),)))),
    ]
    for make in wrong:
        with pytest.raises((ValueError, OverflowError)):
            make()


def test_a_table_of_feeds_that_does_not_hold_together_is_refused() -> None:
    types_ = raw.Types(())
    opens = (8, 0, (("returned", "u8", ("word", 0)),))
    asks = (12, 0, (("feed", "u8", ("word", 0)), ("number", "u4", ("word", 8))))

    def interface(
        feeds: tuple[tuple[object, ...], ...] = (("back", 0, 1),),
        opened: object = opens,
        asked: object = asks,
        items: object = ("items", "i4", 9),
        last: str = "boolean",
    ) -> object:
        came = (8, 8, (("returned", items, ("elements", 0)), ("is_last", last, ("word", 4))))
        flags = (0, False, False, False)
        rows = (
            ("f", "0", *flags, "f", (0, 0, ()), opened, ()),
            ("_next_f", "0", *flags, None, asked, came, ()),
        )
        return raw.Interface(types_, "I", "0", ((64, 1),), rows, feeds)

    assert interface()
    wrong: list[typing.Callable[[], object]] = [
        lambda: interface(feeds=()),
        lambda: interface(feeds=(("back", 1, 0),)),
        lambda: interface(feeds=(("back", 0, 0),)),
        lambda: interface(feeds=(("back", 0, 2),)),
        lambda: interface(feeds=(("back", 0, 1), ("back", 0, 1))),
        lambda: interface(feeds=(("there", 0, 1, 1),)),
        lambda: interface(feeds=(("sideways", 0, 1),)),
        lambda: interface(opened=(4, 0, (("returned", "u4", ("word", 0)),))),
        lambda: interface(asked=(8, 0, (("feed", "u8", ("word", 0)),))),
        lambda: interface(items=("sequence", "i4", 9)),
        lambda: interface(items=("items", ("string", None), 9)),
        lambda: interface(last="octet"),
    ]
    for make in wrong:
        with pytest.raises(ValueError, match="not a table"):
            make()
