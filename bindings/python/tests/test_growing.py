"""Structs that get members at their end, and an enum that gets an enumerator: each version of an
interface calls the other. Who has the new one reads the defaults of what did not come; who has the
old one leaves out what it does not know, or reads the default literal."""

from __future__ import annotations

import pathlib
import types
import typing

import pytest

import nearcall
from conftest import ROOT, generated

Versions = dict[str, types.ModuleType]


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    """Both versions, and one that is neither."""

    def version(name: str) -> types.ModuleType:
        interface = ROOT / pathlib.Path("tests/stubs-c/versions") / f"{name}.idl"
        return generated(interface, tmp_path_factory.mktemp(name))

    return {name: version(name) for name in ("early", "late", "moved")}


def keeper(module: types.ModuleType, last: typing.Any) -> typing.Any:
    """A server that tells what it was given, and gives ``last``."""

    class Keeper(module.ShelfServer):  # type: ignore[name-defined, misc]
        def keep(self, items: typing.Any) -> str:
            return ";".join(str(item) for item in items)

        def last(self) -> typing.Any:
            return last

        def newest(self, tint: typing.Any) -> typing.Any:
            return list(module.Tint)[-1] if tint == module.Tint.PLAIN else tint

        def seen(self, coats: typing.Any) -> typing.Any:
            newest = list(module.Tint)[-1]
            return [module.Coat(newest, int(coat.tint)) for coat in coats]

    return Keeper()


def early_item(early: types.ModuleType) -> typing.Any:
    return early.Item("hat", [early.Part(5), early.Part(6)])


def late_item(late: types.ModuleType) -> typing.Any:
    part = late.Part(1, 2)
    said = {"note": "a note", "kind": "fancy", "ratio": -1.0}
    return late.Item("bag", [part], late.Colour.RED, 9, ["x"], part, **said)


def test_an_old_client_at_a_new_server(versions: Versions) -> None:
    early, late = versions["early"], versions["late"]
    with nearcall.export("grown", keeper(late, late_item(late))):
        client = early.ShelfClient.import_("grown")
        parts, base = [late.Part(5, 7), late.Part(6, 7)], late.Part(0, 7)
        seen = late.Item("hat", parts, late.Colour.GREEN, 3, [], base)
        assert client.keep([early_item(early)]) == str(seen)
        assert str(client.last()) == str(early.Item("bag", [early.Part(1)]))


def test_a_new_client_at_an_old_server(versions: Versions) -> None:
    early, late = versions["early"], versions["late"]
    with nearcall.export("small", keeper(early, early_item(early))):
        client = late.ShelfClient.import_("small")
        seen = str(early.Item("bag", [early.Part(1)]))
        assert client.keep([late_item(late), late_item(late)]) == f"{seen};{seen}"
        parts, base = [late.Part(5, 7), late.Part(6, 7)], late.Part(0, 7)
        want = late.Item("hat", parts, late.Colour.GREEN, 3, [], base)
        assert str(client.last()) == str(want)


def test_equal_versions(versions: Versions) -> None:
    late = versions["late"]
    with nearcall.export("equal", keeper(late, late_item(late))):
        client = late.ShelfClient.import_("equal")
        assert client.keep([late_item(late)]) == str(late_item(late))
        assert str(client.last()) == str(late_item(late))


@pytest.mark.parametrize("there", ["early", "late"])
@pytest.mark.parametrize("here", ["early", "late"])
def test_an_enumerator_that_is_not_known_is_the_default_literal(
    versions: Versions, here: str, there: str
) -> None:
    module = versions[here]
    with nearcall.export(f"{here}-{there}", keeper(versions[there], None)):
        client = module.ShelfClient.import_(f"{here}-{there}")
        own = list(module.Tint)[-1]
        got = own if there == "late" else module.Tint.OTHER
        assert client.newest(module.Tint.PLAIN) is got
        assert client.newest(own) is got
        coats = client.seen([module.Coat(module.Tint.PLAIN, 9), module.Coat(own, 9)])
        assert coats == [module.Coat(got, 0), module.Coat(got, int(got))]


def test_a_member_before_another_is_refused_by_name(versions: Versions) -> None:
    moved = versions["moved"]
    with nearcall.export("moved", keeper(moved, None)):
        for name in ("early", "late"):
            with pytest.raises(nearcall.BindError, match="`growing::Part`, whose member 1 differs"):
                versions[name].ShelfClient.import_("moved")
