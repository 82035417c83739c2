"""Values that hold their own type, as deep as they may be in every language and one level more."""

from __future__ import annotations

import types
import typing

import pytest

import nearcall
from conftest import ROOT, generated

TOO_DEEP = "nesting is 65, allowed is 0 to 64"


@pytest.fixture(scope="module")
def boxing(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``boxing.idl``."""
    return generated(ROOT / "tests/stubs-c/boxing.idl", tmp_path_factory.mktemp("boxing"))


@pytest.fixture
def name(boxing: types.ModuleType) -> typing.Iterator[str]:
    """Of a server that puts a node before one that is called so."""

    class Trees(boxing.TreesServer):  # type: ignore[name-defined, misc]
        def primed(self, node: typing.Any) -> typing.Any:
            return behind(boxing, node) if node.name == "deeper" else node

        def counted(self, twig: typing.Any) -> int:
            return 0

        def planted(self) -> nearcall.Taker[typing.Any, int]:
            raise NotImplementedError("nobody plants here")

    with nearcall.export("trees", Trees()):
        yield "trees"


def behind(boxing: types.ModuleType, rest: typing.Any) -> typing.Any:
    """A node of which ``rest`` is the next."""
    return boxing.Node("", {}, [], [], boxing.Link(False, None), next=rest)


def chain(boxing: types.ModuleType, count: int) -> typing.Any:
    """So many nodes, each the next of the one before: two levels, optional and elsewhere."""
    node = None
    for _ in range(count):
        node = behind(boxing, node)
    return node


def linked(boxing: types.ModuleType, count: int) -> typing.Any:
    """So many nodes, each in the union of the one before: a level each."""
    node = behind(boxing, None)
    for _ in range(count - 1):
        node = boxing.Node("", {}, [], [], boxing.Link(True, node))
    return node


# The innermost node has lists, which are a level.
@pytest.mark.parametrize(("make", "most"), [(chain, 32), (linked, 64)])
def test_what_is_too_deep_is_not_sent(
    boxing: types.ModuleType,
    name: str,
    make: typing.Callable[[types.ModuleType, int], typing.Any],
    most: int,
) -> None:
    client = boxing.TreesClient.import_(name)
    deepest = make(boxing, most)
    assert client.primed(deepest) == deepest
    for count in [most + 1, most + 300]:
        with pytest.raises(nearcall.UsageError, match=TOO_DEEP):
            client.primed(make(boxing, count))
    assert client.primed(deepest) == deepest


def test_what_is_too_deep_is_not_returned(
    boxing: types.ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda news: told.append(str(news.exc_value)))
    client = boxing.TreesClient.import_(name)
    deepest = chain(boxing, 32)
    deepest.name = "deeper"
    with pytest.raises(nearcall.ResultsRefused):
        client.primed(deepest)
    assert told == [TOO_DEEP]
    # Nobody has lied: the binding goes on.
    assert client.primed(deepest.next) == deepest.next
