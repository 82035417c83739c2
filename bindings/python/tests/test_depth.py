"""Values that hold their own type, as deep as they may be in every language and one level more."""

from __future__ import annotations

import types
import typing

import pytest

import nearcall
from conftest import ROOT, generated

TOO_DEEP = "is 65 levels deep, allowed is 0 to 64"


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


#: What is told of each: its parameter, and where in it that is, without what is in between.
NEXT = r"^node\.next\.next\.next\.next\.next\.next\.next\. \.\.\. .*\.next(\.named)? "
LINKED = r"^node\.link\.value\.link\.value\.link\.value\.li \.\.\. .*\.value(\.named)? "


# The innermost node has lists, which are a level.
@pytest.mark.parametrize(
    ("make", "most", "told"), [(chain, 32, NEXT), (linked, 64, LINKED)]
)
def test_what_is_too_deep_is_not_sent(
    boxing: types.ModuleType,
    name: str,
    make: typing.Callable[[types.ModuleType, int], typing.Any],
    most: int,
    told: str,
) -> None:
    client = boxing.TreesClient.import_(name)
    deepest = make(boxing, most)
    assert client.primed(deepest) == deepest
    for count in [most + 1, most + 300]:
        with pytest.raises(nearcall.UsageError, match=f"{told}{TOO_DEEP}$"):
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
    assert len(told) == 1
    assert told[0].startswith("returned.next.next.") and told[0].endswith(f" {TOO_DEEP}")
    # Nobody has lied: the binding goes on.
    assert client.primed(deepest.next) == deepest.next


def test_the_place_has_indices_and_keys(boxing: types.ModuleType, name: str) -> None:
    client = boxing.TreesClient.import_(name)
    # In the list of a list, by its index, and in a map, by its key.
    inner = chain(boxing, 31)
    inner.all, inner.named = [chain(boxing, 33)], {"a": chain(boxing, 1)}
    with pytest.raises(nearcall.UsageError, match=r"^node\.all\[0\]\.next\.next.* is 65 levels"):
        client.primed(inner)
    endless = boxing.Node("", {}, [], [], boxing.Link(False, None))
    endless.named["own"] = endless
    with pytest.raises(nearcall.UsageError, match=r"^node\.named\['own'\]\.named\['own'\]\..* \.\.\. "):
        client.primed(endless)
