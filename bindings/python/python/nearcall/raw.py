"""What generated modules are made of. Write against the generated classes instead."""

from __future__ import annotations

import abc
import functools
import os
import sys
import typing

from nearcall._native import (
    Binding,
    Clerk,
    Interface,
    Pending,
    Types,
    WaitPolicy,
    open_exchange,
    open_feed,
)
from nearcall.feeds import Feed, Sink
from nearcall.shown import shown

if typing.TYPE_CHECKING:
    import ctypes

    import numpy
    import numpy.typing
    from _typeshed import FileDescriptorLike, ReadableBuffer

    from nearcall.waiting import AsyncFeed, AsyncSink

    #: Whatever has the buffer protocol. NumPy says of its arrays from Python 3.12 on that they do.
    Buffer: typing.TypeAlias = ReadableBuffer | numpy.ndarray[typing.Any, typing.Any]

    #: Memory whose hints do not say what numbers are in it. Those are looked at when it is sent.
    _Memory: typing.TypeAlias = memoryview[typing.Any] | ctypes.Array[typing.Any]

    #: What has numbers of one type in memory: NumPy's arrays of that type alone, as nothing is cast.
    #: What NumPy makes of a plain ``int`` is a type of its own to hints, and as wide as an address.
    Float32s: typing.TypeAlias = numpy.typing.NDArray[numpy.float32] | _Memory
    Float64s: typing.TypeAlias = numpy.typing.NDArray[numpy.float64] | _Memory
    Int8s: typing.TypeAlias = numpy.typing.NDArray[numpy.int8] | _Memory
    Int16s: typing.TypeAlias = numpy.typing.NDArray[numpy.int16] | _Memory
    Int32s: typing.TypeAlias = numpy.typing.NDArray[numpy.int32] | _Memory
    Int64s: typing.TypeAlias = numpy.typing.NDArray[numpy.int64 | numpy.int_] | _Memory
    Uint8s: typing.TypeAlias = numpy.typing.NDArray[numpy.uint8] | _Memory
    Uint16s: typing.TypeAlias = numpy.typing.NDArray[numpy.uint16] | _Memory
    Uint32s: typing.TypeAlias = numpy.typing.NDArray[numpy.uint32] | _Memory
    Uint64s: typing.TypeAlias = numpy.typing.NDArray[numpy.uint64 | numpy.uint] | _Memory

    #: A number, or whatever says its own as ``fileno()``.
    DescriptorLike: typing.TypeAlias = FileDescriptorLike

__all__ = [
    "AsyncClient",
    "AsyncServer",
    "Buffer",
    "Case",
    "Client",
    "DescriptorLike",
    "Exported",
    "Float32s",
    "Float64s",
    "Int16s",
    "Int32s",
    "Int64s",
    "Int8s",
    "Interface",
    "Posting",
    "Record",
    "Server",
    "Types",
    "Uint16s",
    "Uint32s",
    "Uint64s",
    "Uint8s",
]


class Record:
    """A struct, a union or a bitset: equal if all members are, arrays element by element."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = [name for one in type(self).__mro__ for name in getattr(one, "__slots__", ())]
        return all(_are_same(getattr(self, name), getattr(other, name)) for name in names)


_Held = typing.TypeVar("_Held")
_Union = typing.TypeVar("_Union")


class Case(typing.Generic[_Held]):
    """A case of a union, by the name of its member: of the class what makes a union of it from its
    value, of a union its value. Of a union that has another case it is an ``AttributeError``, so
    that ``hasattr``, ``getattr`` with a default and the patterns of ``match`` ask which it has."""

    __slots__ = ("_labels", "_name", "_unless")

    def __init__(self, *labels: object, unless: tuple[object, ...] | None = None) -> None:
        self._labels = labels
        #: The labels of all others, where this is what is left over.
        self._unless = unless

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @typing.overload
    def __get__(
        self, union: None, kind: typing.Callable[..., _Union]
    ) -> typing.Callable[[_Held], _Union]: ...

    @typing.overload
    def __get__(self, union: object, kind: object) -> _Held: ...

    def __get__(self, union: typing.Any, kind: typing.Any) -> typing.Any:
        if union is None:
            return functools.partial(kind, self._labels[0])
        number = union.discriminator
        if number in self._labels if self._unless is None else number not in self._unless:
            return union.value
        raise AttributeError(f"{kind.__name__} of discriminator {number!r} has no {self._name}")


def _are_same(one: object, other: object) -> bool:
    # Where nobody has imported NumPy there are no arrays; stubs that have some import it.
    numpy = sys.modules.get("numpy")
    arrays: typing.Any = getattr(numpy, "ndarray", ())
    if isinstance(one, arrays) or isinstance(other, arrays):
        return bool(typing.cast(typing.Any, numpy).array_equal(one, other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_same(one[key], other[key]) for key in one)
    return one == other


class _Bound:
    """A binding to one interface."""

    __slots__ = ("_binding",)
    _interface: typing.ClassVar[Interface]

    def __init__(self, binding: Binding) -> None:
        if not isinstance(binding, Binding):
            own, found = type(self).__name__, type(binding).__name__
            raise TypeError(f"{found} where a Binding is wanted: {own}.import_(name) makes one")
        self._binding = binding

    def __repr__(self) -> str:
        return shown(self, "_binding")

    @classmethod
    def import_(
        cls,
        name: str,
        *,
        timeout: float | None = None,
        ready_timeout: float | None = None,
        ready_pidfd: DescriptorLike | None = None,
        rebind_timeout: float | None = None,
        grows: bool = False,
        directory: str | os.PathLike[str] | None = None,
        wait: WaitPolicy | None = None,
    ) -> typing.Self:
        """Binds to the domain that exports ``name``: waits at most ``ready_timeout`` seconds until
        somebody does, without it not at all, and at most ``timeout`` seconds for its answer.
        The thread waits: in an event loop use ``asyncio.to_thread``. Nor does it wait longer than a
        process lives that is to export ``name``, or to have it exported, if it is told which:
        ``ready_pidfd`` is a pidfd of that one (``os.pidfd_open(child.pid)``), and stays the
        caller's. Once it has ended the import raises ``ProcessEnded``.

        When the server has ended, ``binding.rebind()``, and each call of an ``@idempotent``
        operation that failed, which is made once more, wait at most ``rebind_timeout`` seconds
        until somebody exports the name again; without it they do not wait.

        With ``grows``, a call that finds no A-stack has the server add some, up to 15 times as many
        as there were; without it, it waits for one.

        ``directory`` is where the name is looked up, in place of the user's scope and then the
        system's; ``wait`` is how calls of this binding wait, in place of what the domain says."""
        return cls(
            Binding(
                cls._interface,
                name,
                timeout=timeout,
                ready_timeout=ready_timeout,
                ready_pidfd=ready_pidfd,
                rebind_timeout=rebind_timeout,
                grows=grows,
                directory=directory,
                wait=wait,
            )
        )

    @classmethod
    def import_introduced(
        cls,
        introduction: DescriptorLike,
        *,
        timeout: float | None = None,
        wait: WaitPolicy | None = None,
    ) -> typing.Self:
        """Binds to what its giver is bound to, who has got ``introduction`` from
        ``client.binding.introduce()``. It is used up, and stays the caller's to close."""
        return cls(Binding.introduced(cls._interface, introduction, timeout, wait))

    @property
    def binding(self) -> Binding:
        """The binding."""
        return self._binding

    def with_deadline(self, seconds: float) -> typing.Self:
        """The same, but every call waits at most so many seconds, and then is aborted. With 0 it is
        not even posted, and raises ``NotExecuted``.
        """
        return type(self)(self._binding.with_deadline(seconds))


class Client(_Bound):
    """Calls an interface. Any number of threads may."""

    __slots__ = ("_call",)

    def __init__(self, binding: Binding) -> None:
        super().__init__(binding)
        self._call: typing.Callable[..., typing.Any] = binding.call

    def _feed(self, procedure: int, *arguments: object) -> Feed[typing.Any]:
        return Feed(open_feed(self._binding, procedure, *arguments))

    def _sink(self, procedure: int, *arguments: object) -> Sink[typing.Any, typing.Any]:
        return Sink(open_feed(self._binding, procedure, *arguments))

    def _exchange(
        self, procedure: int, *arguments: object
    ) -> tuple[Sink[typing.Any, None], Feed[typing.Any]]:
        going, coming = open_exchange(self._binding, procedure, *arguments)
        return Sink(going), Feed(coming)


class Posting:
    """Posts calls of an interface, and does not wait for their replies: what each function returns
    collects what the call evaluates to. Any number of threads may."""

    __slots__ = ("_post",)

    def __init__(self, binding: Binding) -> None:
        self._post: typing.Callable[..., Pending[typing.Any]] = binding.post

    def __repr__(self) -> str:
        return shown(self, "_post")


class AsyncClient(_Bound):
    """Calls an interface; every call is awaited. The runtime wakes the event loop, and no thread
    waits; but for calls with long arguments, which take long to copy, for what opens or carries a
    feed, and for a call of an ``@idempotent`` operation that is made once more.

    When the task that awaits a call is cancelled, the call is aborted like one whose deadline has
    passed: at once, or within 20 ms if a thread waits for it, and the server can see it. A feed
    that it opens is then given up.
    """

    __slots__ = ("_called",)

    def __init__(self, binding: Binding) -> None:
        super().__init__(binding)
        # Not above: asyncio comes with it.
        from nearcall.waiting import called

        self._called = called

    async def _call(self, procedure: int, *arguments: object) -> typing.Any:
        return await self._called(self._binding, procedure, *arguments)

    async def _feed(self, procedure: int, *arguments: object) -> AsyncFeed[typing.Any]:
        from nearcall.waiting import AsyncFeed, until_cancelled

        return AsyncFeed(await until_cancelled(open_feed, self._binding, procedure, *arguments))

    async def _sink(
        self, procedure: int, *arguments: object
    ) -> AsyncSink[typing.Any, typing.Any]:
        from nearcall.waiting import AsyncSink, until_cancelled

        return AsyncSink(await until_cancelled(open_feed, self._binding, procedure, *arguments))

    async def _exchange(
        self, procedure: int, *arguments: object
    ) -> tuple[AsyncSink[typing.Any, None], AsyncFeed[typing.Any]]:
        from nearcall.waiting import AsyncFeed, AsyncSink, until_cancelled

        opening = until_cancelled(open_exchange, self._binding, procedure, *arguments)
        going, coming = await opening
        return AsyncSink(going), AsyncFeed(coming)


class Server(abc.ABC):
    """What a domain that exports an interface does. Procedures run on threads of the domain's,
    several at once."""

    __slots__ = ()
    _interface: typing.ClassVar[Interface]


class AsyncServer(abc.ABC):
    """What a domain that exports an interface does. Procedures are awaited by the event loop that
    exports it, in a task each. What opens a feed to the client is an async generator; what opens
    one from it is given an :class:`AsyncInlet`, and evaluates to what it makes of the items.

    When its client gives a call up, or the feed that it has opened, or ends, the task that serves
    it is cancelled within 20 ms, once. When the loop is closed, calls that have begun are
    ``Panicked`` to their clients, and those that have not are ``NotExecuted``."""

    __slots__ = ()
    _interface: typing.ClassVar[Interface]


class Exported:
    """An exported interface. Leaving it as a context withdraws the name, and so it is when nobody
    holds this any more."""

    __slots__ = ("_clerk",)

    def __init__(self, clerk: Clerk) -> None:
        self._clerk = clerk

    def __repr__(self) -> str:
        return shown(self, "_clerk")

    @property
    def clerk(self) -> Clerk:
        """The clerk, who admits importers."""
        return self._clerk

    def set_policy(self, path: str | os.PathLike[str]) -> int:
        """Who may bind is what a policy file says from here on. Bindings of which it says something
        else are revoked, in order: how many that were. After an error the policy before it stays."""
        return self._clerk.set_policy(path)

    def withdraw(self) -> None:
        """Withdraws the name and revokes its bindings; calls that run are finished."""
        self._clerk.withdraw()

    def __enter__(self) -> Exported:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.withdraw()


def export(
    name: str,
    server: Server | AsyncServer,
    *,
    is_open_to_anyone: bool = False,
    policy: str | os.PathLike[str] | None = None,
    directory: str | os.PathLike[str] | None = None,
) -> Exported:
    """Exports ``server`` under ``name``: to processes of this user (in the system scope, where root
    exports without ``XDG_RUNTIME_DIR``, to nobody), to whoever may open the socket, or to whom a
    ``policy`` file, in TOML, admits. The name goes to ``directory``, if one is given,
    which is made for this user alone if it is not there.

    The name is there for as long as somebody holds what is returned: keep it, or use ``with``.

    ``TypeError`` if a method cannot be called as the interface calls it, as far as that is known:
    of a function written in Python by how many it takes, and whether it is ``async``. Its names are
    its own, unless they are those of the interface, all of them, in another order.

    An :class:`AsyncServer` is exported by a task: the running event loop awaits its procedures."""
    wakes = None
    if isinstance(server, AsyncServer):
        # Not above: asyncio comes with it.
        from nearcall import waiting

        wakes = waiting.wakes()
    interface = getattr(server, "_interface", None)
    if not isinstance(server, AsyncServer | Server) or not isinstance(interface, Interface):
        given: object = server
        found = type(given).__name__
        if isinstance(given, type):
            found = f"the class {given.__name__}"
        raise TypeError(f"{found} where an object of a generated server class is wanted")
    place = (name, directory)
    return Exported(Clerk(interface, place, server, is_open_to_anyone, policy, wakes))
