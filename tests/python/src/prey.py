"""The prey of a hostile peer: the self-tests of interface files, which look at every value that
comes, made to say how each call ended instead of comparing anything.

`prey.py server STEM...` exports until its standard input ends. `prey.py client` reads lines of a
file, an interface's and an operation's number, makes that call, and says how it ended."""

import asyncio
import importlib
import inspect
import pathlib
import sys
import threading

import nearcall

# The self-tests ask for it by its name.
sys.modules["prey"] = sys.modules["__main__"]
# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))


class Prey:
    """What a self-test counts and compares with."""

    def __init__(self):
        self.word = "accepted"
        self.lock = threading.Lock()
        self.runs = 0

    def round(self, operation, rounds):
        """Every call is the first round's."""
        with self.lock:
            self.runs += 1
        return 0

    def same(self, at, got, wanted):
        """What came was looked at to make its text."""

    def told(self, error):
        """What an error is called here."""
        self.word = "refused" if type(error) is nearcall.Peer else "other"
        return f"{type(error).__name__}: {error}"


check = Prey()


def awaiting(server):
    """The same server, each of whose procedures is awaited."""
    awaiting = nearcall.AsyncServer.__subclasses__()
    [base] = (base for base in awaiting if base._interface is server._interface)

    def plain(argument):
        # A self-test has a thread of its own for each exchange.
        match argument:
            case nearcall.AsyncInlet():
                return argument._inlet
            case nearcall.AsyncOutlet():
                return argument._outlet
        return argument

    async def taken(taker, inlet):
        try:
            async for item in inlet:
                taker.take(item)
            return taker.end()
        finally:
            taker.close()

    def awaited(function):
        async def awaited(*arguments):
            match arguments:
                case (*given, nearcall.AsyncInlet() as inlet):
                    return await taken(function(*given), inlet)
            return function(*map(plain, arguments))

        return awaited

    def generated(function):
        async def generated(*arguments):
            for item in function(*arguments):
                yield item

        return generated

    members = {name: member for name, member in vars(server).items() if callable(member)}
    for name in base.__abstractmethods__:
        is_coroutine = inspect.iscoroutinefunction(getattr(base, name))
        members[name] = (awaited if is_coroutine else generated)(members[name])
    return type(server.__name__, (base,), members)


async def serve(stems):
    """The servers of every other file are awaited."""
    exported = []
    for number, stem in enumerate(stems):
        module = importlib.import_module(f"{stem}_selftest_server")
        servers = (getattr(module, name) for name in vars(module) if name.startswith("Server"))
        for index, server in enumerate(servers):
            server = awaiting(server) if number % 2 else server
            exported.append(nearcall.export(f"{stem}-{index}", server()))
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for one in exported:
        one.withdraw()
    print(f"ran {check.runs}", flush=True)


def called(clients, stem, interface, operation):
    """One call, and how it ended."""
    module = importlib.import_module(f"{stem}_selftest_client")
    name = f"{stem.removesuffix('_awaited').removesuffix('_posted')}-{interface}"
    check.word, said = "accepted", ""
    try:
        if (stem, interface) not in clients:
            clients[stem, interface] = module.IMPORTED[int(interface)].import_(name)
        made = getattr(module, f"call_{operation}")(clients[stem, interface])
        if inspect.isawaitable(made) != stem.endswith("_awaited"):
            raise TypeError(f"{stem} has calls of another manner")
        if made is not None:
            asyncio.run(made)
    except BaseException as error:
        # Also what is no Exception: a panic of the extension's.
        check.word, said = "other", f"{type(error).__name__}: {error}"
    if check.word != "accepted":
        clients.pop((stem, interface), None)
    return f"{check.word} {said}".replace("\n", " ")


def main():
    if sys.argv[1] == "server":
        return asyncio.run(serve(sys.argv[2:]))
    clients = {}
    for line in sys.stdin:
        print(called(clients, *line.split()), flush=True)


if __name__ == "__main__":
    main()
