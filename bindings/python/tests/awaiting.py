"""Servers whose procedures are awaited, made of those whose procedures are not."""

from __future__ import annotations

import asyncio
import inspect
import sys
import typing

import nearcall


def awaiting(server: type, base: type) -> type:
    """The same server, as one of ``base``: whatever that wants awaited has to wait first."""
    wanted = {name for name, made in vars(base).items() if inspect.iscoroutinefunction(made)}
    members: dict[str, object] = {}
    for name, member in vars(server).items():
        if callable(member):
            members[name] = _awaited(member) if name in wanted else member
    return type(server.__name__, (base,), members)


def _awaited(function: typing.Callable[..., object]) -> typing.Callable[..., object]:
    async def awaited(*arguments: object) -> object:
        # It may call the very server.
        return await asyncio.to_thread(function, *arguments)

    return awaited


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
