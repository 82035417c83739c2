"""Servers whose procedures are awaited, made of those whose procedures are not."""

from __future__ import annotations

import asyncio
import inspect
import sys
import typing

import nearcall


def awaiting(server: type, base: type) -> type:
    """The same server, as one of ``base``, whose procedures have to wait first."""
    members = {name: member for name, member in vars(server).items() if callable(member)}
    for name in base.__abstractmethods__:  # type: ignore[attr-defined]
        is_coroutine = inspect.iscoroutinefunction(getattr(base, name))
        members[name] = (_awaited if is_coroutine else _generated)(members[name])
    return type(server.__name__, (base,), members)


def _awaited(function: typing.Callable[..., typing.Any]) -> typing.Callable[..., object]:
    async def awaited(*arguments: object) -> object:
        match arguments:
            case (*given, nearcall.AsyncInlet() as inlet):
                return await _taken(function(*given), inlet)
        # It may call the very server.
        return await asyncio.to_thread(function, *arguments)

    return awaited


async def _taken(
    taker: nearcall.Taker[object, object], inlet: nearcall.AsyncInlet[object]
) -> object:
    try:
        async for item in inlet:
            taker.take(item)
        return taker.end()
    finally:
        taker.close()


def _generated(
    function: typing.Callable[..., typing.Iterable[object]],
) -> typing.Callable[..., object]:
    async def generated(*arguments: object) -> typing.AsyncIterator[object]:
        items = iter(function(*arguments))
        try:
            for item in items:
                await asyncio.sleep(0)
                yield item
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    return generated


def serve(servers: dict[str, tuple[type, type]]) -> None:
    """Exports each server by its name until standard input ends, awaited if the last argument says
    so: its class, and the base of one that is awaited."""
    if sys.argv[-1] != "awaited":
        exported = [nearcall.export(name, own()) for name, (own, _) in servers.items()]
        _told(exported)
        return

    async def main() -> None:
        made = {name: awaiting(*classes)() for name, classes in servers.items()}
        exported = [nearcall.export(name, server) for name, server in made.items()]
        await asyncio.to_thread(_told, exported)

    asyncio.run(main())


def _told(exported: list[nearcall.Exported]) -> None:
    print("ready", flush=True)
    sys.stdin.read()
    for one in exported:
        one.withdraw()
