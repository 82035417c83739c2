"""Descriptors beside messages: what arrives, what is refused on either side, and that nothing stays
open that nobody holds."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import mmap
import os
import pathlib
import socket
import sys
import tempfile
import time
import types
import typing

import pytest

import nearcall
from conftest import aborted, imported

Passing = types.ModuleType

#: No writer but its creator, from then on: the kernel's F_SEAL_FUTURE_WRITE.
FUTURE_WRITE = 0x10


@pytest.fixture(params=["rust", "python", "tasks"])
def vault(request: pytest.FixtureRequest, passing_servers: None, passing: Passing) -> typing.Any:
    """A client of each."""
    return passing.VaultClient.import_(f"vault-{request.param}")


@pytest.fixture
def links() -> typing.Iterator[tuple[socket.socket, socket.socket]]:
    """Two sockets that are one another's ends."""
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def open_count() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def settled(count: typing.Callable[[], int]) -> int:
    """How many there are when what was open before is closed."""
    last = -1
    while (now := count()) != last:
        last = now
        time.sleep(0.05)
    return last


def settles(count: typing.Callable[[], int], wanted: int) -> None:
    """What is closed is closed by a thread, in a while."""
    until = time.monotonic() + 10
    while count() != wanted:
        assert time.monotonic() < until, f"{count()} are open, not {wanted}"
        time.sleep(0.01)


@contextlib.contextmanager
def nothing_leaks(vault: typing.Any) -> typing.Iterator[None]:
    """Neither here nor in the server."""
    theirs, ours = settled(vault.open_count), settled(open_count)
    yield
    settles(vault.open_count, theirs)
    settles(open_count, ours)


def is_same(one: int, other: int) -> bool:
    return os.path.sameopenfile(one, other)


def test_both_come_back_and_are_what_they_were(
    vault: typing.Any, links: tuple[socket.socket, socket.socket]
) -> None:
    with nothing_leaks(vault), tempfile.TemporaryFile() as file:
        link, other = links
        back, same = vault.swap(file, "swap", link.fileno())
        assert is_same(back.fileno(), link.fileno()) and is_same(same.fileno(), file.fileno())
        assert back.fileno() != link.fileno()
        with socket.socket(fileno=back.detach()) as made:
            made.sendall(b"through")
            assert other.recv(100) == b"through"
        assert back.closed
        with pytest.raises(ValueError, match="closed"):
            back.fileno()
        file.write(b"mapped")
        file.flush()
        with same, mmap.mmap(same.fileno(), 6) as view:
            assert view[:] == b"mapped"
        assert same.closed and "closed" in repr(same)
        same.close()


def test_what_nobody_holds_is_closed(
    vault: typing.Any, links: tuple[socket.socket, socket.socket]
) -> None:
    with tempfile.TemporaryFile() as file, nothing_leaks(vault):
        for _ in range(20):
            vault.swap(file, "swap", links[0])
            vault.close(file)
    with nothing_leaks(vault), os.fdopen(vault.piped("text").detach()) as pipe:
        assert pipe.read() == "text"


def test_what_is_raised_brings_none(
    vault: typing.Any, passing: Passing, links: tuple[socket.socket, socket.socket]
) -> None:
    with tempfile.TemporaryFile() as file, nothing_leaks(vault):
        for _ in range(3):
            with pytest.raises(passing.Busy) as raised:
                vault.swap(file, "busy", links[0])
            assert raised.value.holder == 7


def segment(length: int) -> int:
    """As the runtime makes them: allocated, and sealed."""
    made = os.memfd_create("segment", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.posix_fallocate(made, 0, length)
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL | FUTURE_WRITE
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, seals)
    return made


def test_a_sealed_segment_is_measured(vault: typing.Any) -> None:
    made = segment(8192)
    assert vault.measure(made) == 8192
    os.close(made)


def test_a_wrong_kind_names_parameter_value_and_what_is_wanted(
    vault: typing.Any, links: tuple[socket.socket, socket.socket]
) -> None:
    link = links[0]
    with tempfile.TemporaryFile() as file, nothing_leaks(vault):
        wrong = [
            (lambda: vault.swap(link, "", link), "file", link.fileno(), "regular file"),
            (lambda: vault.swap(file, "", file), "link", file.fileno(), "socket"),
            (lambda: vault.measure(file), "segment", file.fileno(), "sealed segment"),
            (lambda: vault.swap(file, "", 10_000), "link", 10_000, "socket"),
            (lambda: vault.measure(-1), "segment", -1, "sealed segment"),
        ]
        for call, parameter, number, wanted in wrong:
            with pytest.raises(nearcall.UsageError) as raised:
                call()
            said = str(raised.value)
            assert said.startswith(f"{parameter} is {number}") and wanted in said
            assert raised.value.ran is nearcall.Ran.NO
        for value in ("text", 1.5, None, True):
            with pytest.raises(TypeError, match="descriptor"):
                vault.close(value)
        with pytest.raises(nearcall.UsageError, match="text"):
            vault.swap(file, "123456789", link)


def test_one_that_is_absent_is_none(
    vault: typing.Any, passing: Passing, links: tuple[socket.socket, socket.socket]
) -> None:
    waiting, posting = passing.VaultAsyncClient(vault.binding), vault.posting
    calls: list[typing.Callable[..., typing.Any]] = [
        vault.either,
        lambda *given: asyncio.run(waiting.either(*given)),
        lambda *given: posting.either(*given).collect(),
    ]
    with tempfile.TemporaryFile() as file:
        # What stands for one that is absent is made once a process, and stays.
        vault.either(None, file)
        vault.either(links[0], file)
        with nothing_leaks(vault):
            for call in calls:
                back, same = call(links[0], file)
                assert same is None and is_same(back.fileno(), links[0].fileno())
                back.close()
                back, same = call(None, file)
                assert back is None and is_same(same.fileno(), file.fileno())
                same.close()
                with pytest.raises(nearcall.UsageError, match="link is .* no socket"):
                    call(file, file)
                with pytest.raises(TypeError, match="descriptor"):
                    call(links[0], None)
                # A number that is none is no way to say so.
                with pytest.raises(nearcall.UsageError, match="link is -1"):
                    call(-1, file)


def test_results_that_are_refused_leave_nothing_open(vault: typing.Any) -> None:
    with nothing_leaks(vault):
        for _ in range(5):
            with pytest.raises(nearcall.ResultsRefused):
                vault.wrong()
            with pytest.raises(nearcall.ResultsRefused):
                vault.torn()
            assert vault.open_count() > 0


def test_awaited_calls_pass_them_too(
    vault: typing.Any, passing: Passing, links: tuple[socket.socket, socket.socket]
) -> None:
    waiting = passing.VaultAsyncClient(vault.binding)

    async def swap(file: typing.Any) -> bool:
        back, same = await waiting.swap(file, "swap", links[0])
        return is_same(back.fileno(), links[0].fileno()) and is_same(same.fileno(), file.fileno())

    async def all() -> list[bool]:
        return await asyncio.gather(*(swap(file) for _ in range(8)))

    with tempfile.TemporaryFile() as file, nothing_leaks(vault):
        assert asyncio.run(all()) == [True] * 8


def test_what_a_procedure_was_given_is_closed_if_its_arguments_are_refused(
    vault: typing.Any,
    passing: Passing,
    links: tuple[socket.socket, socket.socket],
    tmp_path: pathlib.Path,
) -> None:
    """A client whose tables say octets where the interface says text, and one that sends one
    descriptor less than the interface says."""
    text = pathlib.Path(passing.__file__ or "").read_text()
    true = '("text", ("string", 8), ("text", 0))'
    lies = {
        "octets": text.replace(true, '("text", ("sequence", "octet", None), ("octets", 0))'),
        "fewer": text.replace('("segment", "i4", ("descriptor", "segment")),', ""),
        "more": text.replace(
            '(0, 0, (("segment", "i4", ("descriptor", "segment")),)),',
            '(0, 0, (("a", "i4", ("descriptor", "any")), ("b", "i4", ("descriptor", "any")))),',
        ),
        "other": text.replace('("descriptor", "segment")', '("descriptor", "any")'),
    }
    clients = {}
    for name, lie in lies.items():
        assert lie != text, name
        (tmp_path / f"lying_{name}.py").write_text(lie)
        client = imported(tmp_path / f"lying_{name}.py").VaultClient
        clients[name] = client.import_(vault.binding.name)
    with tempfile.TemporaryFile() as file, nothing_leaks(vault):
        calls: list[typing.Callable[[], object]] = [
            lambda: clients["octets"].swap(file, b"\xff", links[0]),
            lambda: clients["octets"].swap(file, b"123456789", links[0]),
            lambda: clients["fewer"].binding.call(1),
            lambda: clients["more"].binding.call(1, file, file),
            lambda: clients["other"].measure(file),
        ]
        for call in calls:
            with pytest.raises(nearcall.NotExecuted) as raised:
                call()
            assert raised.value.ran is nearcall.Ran.NO


def server_of(passing: Passing, **own: typing.Any) -> typing.Any:
    """A server of nothing but what a test says."""
    names = passing.VaultServer.__abstractmethods__
    functions = {name: own.get(name, lambda *_: 0) for name in names}
    return type("Own", (passing.VaultServer,), functions)()


def test_a_number_is_taken_whatever_is_wrong_beside_it(
    passing: Passing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda error: None)
    answers = [("text", os.dup(0)), (10_000, os.dup(0)), (os.dup(0), "text"), (-1, os.dup(0))]
    expected = [nearcall.Panicked, nearcall.ResultsRefused] * 2
    with nearcall.export("torn", server_of(passing, swap=lambda *_: answers.pop(0))):
        client = passing.VaultClient.import_("torn")
        one, other = socket.socketpair()
        with one, other, tempfile.TemporaryFile() as file:
            client.open_count()
            before = settled(open_count)
            for closed, error in enumerate(expected, 1):
                with pytest.raises(error):
                    client.swap(file, "", one)
                settles(open_count, before - closed)


def test_a_deadline_leaves_nothing_open(passing: Passing) -> None:
    """The reply comes after its caller has gone."""

    def swap(_server: object, file: typing.Any, _text: str, link: typing.Any) -> typing.Any:
        time.sleep(1.5)
        return link, file

    with nearcall.export("late", server_of(passing, swap=swap)), tempfile.TemporaryFile() as file:
        one, other = socket.socketpair()
        with one, other:
            client = passing.VaultClient.import_("late")
            hasty = client.with_deadline(0.05)
            client.open_count()
            before = settled(open_count)
            aborted(lambda: hasty.swap(file, "", one))
            settles(open_count, before)
            back, same = client.swap(file, "", one)
            assert is_same(same.fileno(), file.fileno()) and not back.closed
            del back, same
            settles(open_count, before)


def test_a_binding_is_passed_on_once(vault: typing.Any) -> None:
    with vault.binding.introduce() as introduction:
        assert vault.ask(introduction) > 0
        assert vault.ask(introduction) == 0
    read, write = os.pipe()
    with os.fdopen(read), os.fdopen(write):
        with pytest.raises(nearcall.UsageError, match="is no introduction to a binding"):
            vault.ask(read)


def test_an_introduction_is_imported_from_once(vault: typing.Any, passing: Passing) -> None:
    with vault.binding.introduce() as introduction:
        client = passing.VaultClient.import_introduced(introduction, timeout=60)
        assert client.open_count() > 0
        assert client.binding.incarnation == vault.binding.incarnation
        with pytest.raises(nearcall.BindError, match="the introduction to passing::Vault is over"):
            passing.VaultClient.import_introduced(introduction)
    with pytest.raises(nearcall.BindError, match="no introduction"):
        passing.VaultClient.import_introduced(0)


def test_what_is_no_descriptor_is_not_imported_from(passing: Passing) -> None:
    with pytest.raises(nearcall.UsageError, match="introduction is -1, which is not open"):
        passing.VaultClient.import_introduced(-1)
    with pytest.raises(TypeError):
        passing.VaultClient.import_introduced("a name")
