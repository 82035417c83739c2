"""Procedures of a .proto file that fail with a status, as those of gRPC do."""

from __future__ import annotations

import asyncio
import pathlib
import types
import typing

import pytest

import nearcall
from conftest import ROOT, generated


@pytest.fixture(scope="module")
def statuses(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``statuses.proto``."""
    file: pathlib.Path = ROOT / "tests/matrix/idl/statuses.proto"
    return generated(file, tmp_path_factory.mktemp("statuses"))


@pytest.fixture
def name(statuses: types.ModuleType) -> typing.Iterator[str]:
    """Of a server that is there for one test."""

    def no_number() -> Exception:
        raised: Exception = statuses.RpcStatus(
            statuses.RpcCode.INVALID_ARGUMENT, "no number"
        )
        return raised

    class Filled(nearcall.Taker[typing.Any, typing.Any]):
        def __init__(self) -> None:
            self.count = 0

        def take(self, item: typing.Any) -> None:
            if not item.isbn:
                raise no_number()
            self.count += 1

        def end(self) -> typing.Any:
            return statuses.Status(str(self.count))

    class Shelf(statuses.ShelfServer):  # type: ignore[name-defined, misc]
        def find(self, request: typing.Any) -> typing.Any:
            isbn = request.isbn
            if not isbn:
                raise no_number()
            if isbn == "silent":
                raise statuses.RpcStatus(statuses.RpcCode.UNAVAILABLE)
            if isbn == "broken":
                raise RuntimeError("it is broken")
            if isbn != "1":
                code = statuses.RpcCode.NOT_FOUND
                raise statuses.RpcStatus(code, f"no book {isbn}", isbn.encode())
            return statuses.Status("here")

        def list_(self, request: typing.Any) -> typing.Iterator[typing.Any]:
            yield request
            yield request
            raise statuses.RpcStatus(statuses.RpcCode.NOT_FOUND, "no more books", b"")

        def fill(self) -> Filled:
            return Filled()

    with nearcall.export("shelf", Shelf()):
        yield "shelf"


def seen(raised: pytest.ExceptionInfo[typing.Any]) -> tuple[str, str, bytes]:
    """What a status says."""
    status = raised.value
    return status.code.name, status.message, status.details


def test_a_status_says_which(statuses: types.ModuleType, name: str) -> None:
    client = statuses.ShelfClient.import_(name)
    assert client.find(statuses.Book("1")).text == "here"
    with pytest.raises(statuses.RpcStatus, match="no book 496") as raised:
        client.find(statuses.Book("496"))
    assert seen(raised) == ("NOT_FOUND", "no book 496", b"496")
    with pytest.raises(statuses.RpcStatus) as raised:
        client.find(statuses.Book(""))
    assert seen(raised) == ("INVALID_ARGUMENT", "no number", b"")


def test_of_a_status_its_code_alone_has_to_be_said(
    statuses: types.ModuleType, name: str
) -> None:
    with pytest.raises(statuses.RpcStatus) as raised:
        statuses.ShelfClient.import_(name).find(statuses.Book("silent"))
    assert seen(raised) == ("UNAVAILABLE", "", b"")
    with pytest.raises(TypeError):
        statuses.RpcStatus()


def test_a_status_is_awaited_and_collected(statuses: types.ModuleType, name: str) -> None:
    async def find() -> None:
        await statuses.ShelfAsyncClient.import_(name).find(statuses.Book("496"))

    with pytest.raises(statuses.RpcStatus) as raised:
        asyncio.run(find())
    assert seen(raised) == ("NOT_FOUND", "no book 496", b"496")
    pending = statuses.ShelfClient.import_(name).posting.find(statuses.Book(""))
    with pytest.raises(statuses.RpcStatus) as raised:
        pending.collect()
    assert seen(raised) == ("INVALID_ARGUMENT", "no number", b"")


def test_what_a_server_does_not_raise_is_no_status(
    statuses: types.ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.unraisablehook", lambda *_: None)
    client = statuses.ShelfClient.import_(name)
    with pytest.raises(nearcall.CallError) as raised:
        client.find(statuses.Book("broken"))
    assert not isinstance(raised.value, statuses.RpcStatus)
    assert raised.value.ran == nearcall.Ran.YES


def test_streams_end_with_a_status(statuses: types.ModuleType, name: str) -> None:
    client = statuses.ShelfClient.import_(name)
    books = client.list_(statuses.Book("7"))
    assert [next(books).isbn, next(books).isbn] == ["7", "7"]
    with pytest.raises(statuses.RpcStatus) as raised:
        next(books)
    assert seen(raised) == ("NOT_FOUND", "no more books", b"")
    with client.fill() as fill:
        fill.put(statuses.Book("7"))
        assert fill.end().text == "1"
    fill = client.fill()
    fill.put(statuses.Book(""))
    with pytest.raises(statuses.RpcStatus) as raised:
        fill.end()
    assert seen(raised) == ("INVALID_ARGUMENT", "no number", b"")
