"""Servers in processes of their own, under the documented list of system calls. The gate says where
they and the compiler are, and where it is written down who was started so, which it looks at."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import types
import typing

import nearcall
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(os.environ.get("NEARCALL_PROGRAMS", ROOT / "target/debug"))


@pytest.fixture(scope="session", autouse=True)
def names(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Names that nobody else uses."""
    directory = tmp_path_factory.mktemp("names")
    directory.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(directory)


#: Confines a process before its ``main``; ``tests/confined`` says how it is asked to.
CONFINING = PROGRAMS / "deps/libconfining.so"
RECORD = "NEARCALL_CONFINED_RECORD"
KIND = "NEARCALL_CONFINED_KIND"

#: The interpreter that the environment was made with.
BASE = str(pathlib.Path(getattr(sys, "_base_executable", sys.executable)).resolve())


@pytest.fixture(scope="session", autouse=True)
def record(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Who was started confined, who has confined itself, and who has made other system calls."""
    directory = tmp_path_factory.mktemp("confined")
    return pathlib.Path(os.environ.setdefault(RECORD, str(directory / "record")))


@pytest.fixture(autouse=True)
def strays(record: pathlib.Path) -> typing.Iterator[None]:
    """Whoever strays fails the test, wherever its words went."""
    before = strayed(record)
    yield
    assert strayed(record)[len(before) :] == []


def strayed(record: pathlib.Path) -> list[str]:
    """What a record says of those who made a system call that is not listed."""
    lines = record.read_text().splitlines() if record.exists() else []
    return [line for line in lines if line.startswith("strayed")]


def confined(program: object) -> dict[str, str]:
    """What a program is to find in its environment that is to be started, once, and confined."""
    # Of one that it does not find the loader complains, and goes on.
    assert CONFINING.exists(), CONFINING
    with open(os.environ[RECORD], "a") as record:
        record.write("started\n")
    kind = "python" if program in (sys.executable, BASE) else "compiled"
    own = {"LD_PRELOAD": str(CONFINING), KIND: kind}
    # A trace of a panic is read from files, by calls that no procedure makes.
    own["RUST_BACKTRACE"] = "0"
    # Whatever is said here: what is compiled of a module is kept, which takes a call.
    own["PYTHONDONTWRITEBYTECODE"] = ""
    return os.environ | own


#: What is started as it is: the compiler, and what starts others, which it confines.
TOOLS = [PROGRAMS / "nearcall", PROGRAMS / "lies-to-python"]


def refuse_unconfined(event: str, arguments: tuple[typing.Any, ...]) -> None:
    """What a test starts is told of, before: all but tools has to be confined."""
    if event not in STARTS or "PYTEST_CURRENT_TEST" not in os.environ:
        return
    assert event == "subprocess.Popen", f"{event} of {arguments}: by subprocess, and confined"
    _, words, _, environment = arguments
    is_mypy = [words[0], *words[1:3]] == [sys.executable, "-m", "mypy"]
    is_tool = pathlib.Path(words[0]) in TOOLS or is_mypy
    given = environment or {}
    is_confined = given.get("LD_PRELOAD") == str(CONFINING) and {RECORD, KIND} <= given.keys()
    assert is_tool or is_confined, f"{words} would be started, and not confined"


#: Ways to start a program that the interpreter tells of.
STARTS = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system"}

sys.addaudithook(refuse_unconfined)


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """Here and in what is started here, also where who started this ignores them: shells do for
    what they put into the background, and whoever then waits for one waits for ever."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``shapes.idl``."""
    return generated(ROOT / "tests/idl/python/shapes.idl", tmp_path_factory.mktemp("shapes"))


@pytest.fixture(scope="session")
def passing(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``passing.idl``."""
    return generated(ROOT / "tests/idl/python/passing.idl", tmp_path_factory.mktemp("passing"))


@pytest.fixture(scope="session")
def talking(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``talking.idl``."""
    return generated(ROOT / "tests/stubs-c/talking.idl", tmp_path_factory.mktemp("talking"))


@pytest.fixture(scope="session")
def again(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``again.idl``."""
    return generated(ROOT / "tests/stubs-c/again.idl", tmp_path_factory.mktemp("again"))


@pytest.fixture(scope="session")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``lasting.idl``."""
    return generated(ROOT / "tests/stubs-c/lasting.idl", tmp_path_factory.mktemp("lasting"))


@pytest.fixture(scope="session")
def witness(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    """What the compiler makes of ``witness.idl``."""
    return generated(ROOT / "tests/stubs-c/witness.idl", tmp_path_factory.mktemp("witness"))


#: The same for a program of its own, which finds the stubs where its first argument says.
SEEING = """
import sys

import nearcall

sys.path.append(sys.argv[1])
import witness


class Seeing(witness.WitnessServer):
    def who(self): return 0, 0, 0
    def giver(self): return 0
    def left(self): return 0
    def linger(self): pass
    def seen(self): return 9
"""


@pytest.fixture
def seeing(witness: types.ModuleType) -> typing.Any:
    """A server of it, each of whose procedures returns something else."""

    class Seeing(witness.WitnessServer):  # type: ignore[name-defined, misc]
        def who(self) -> tuple[int, int, int]:
            return 0, 0, 0

        def giver(self) -> int:
            return 7

        def left(self) -> int:
            return 8

        def linger(self) -> None: ...

        def seen(self) -> int:
            return 9

    return Seeing()


def generated(interface: pathlib.Path, directory: pathlib.Path) -> types.ModuleType:
    """Compiles an interface file and imports what became of it."""
    output = directory / f"{interface.stem}.py"
    compile_python(interface, output)
    return imported(output)


def imported(path: pathlib.Path) -> types.ModuleType:
    """The module of a file, under its name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def lying(passing: types.ModuleType, tmp_path: pathlib.Path) -> types.ModuleType:
    """The same interface, of procedures that carry feeds and know nothing of them."""
    text, lines = pathlib.Path(passing.__file__ or "").read_text(), []
    for line in text.splitlines():
        if line.startswith('            "_'):
            name = line.split('"')[1]
            line = line.replace("None,", f'"{name}",')
        if not line.startswith(('    (("back",', '    (("both",')):
            # A parameter is called that, too.
            batch = r'\("items", (?!\("items")(.+?), \d+\), \("'
            lines.append(re.sub(batch, r'("sequence", \1, None), ("', line))
    (tmp_path / "lying_feeds.py").write_text("\n".join(lines))
    return imported(tmp_path / "lying_feeds.py")


def compile_python(interface: pathlib.Path, output: pathlib.Path) -> None:
    """Runs the compiler."""
    command: list[str | pathlib.Path] = [PROGRAMS / "nearcall", "compile", "--language", "python"]
    command += [interface, "-o", output, "-I", ROOT / "tests/idl/good"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


#: Of what nearly always meets what it is to, and is true as well where it does not.
TRIES = 10


#: What a call says that its deadline ends, before its post or after.
LATE = (nearcall.CallAborted, nearcall.NoAStack, nearcall.NotExecuted)


def is_late(error: BaseException) -> bool:
    """Whether a call's deadline has ended it."""
    if isinstance(error, nearcall.NotExecuted):
        return error.reason is nearcall.Reason.DEADLINE_PASSED
    return isinstance(error, LATE)


def aborted(call: typing.Callable[[], object]) -> nearcall.CallAborted:
    """What a call says that its deadline ends after its post. It may pass before, and the call may
    have returned before anybody looks."""
    for _ in range(TRIES):
        try:
            call()
        except nearcall.CallAborted as error:
            return error
        except LATE as error:
            assert is_late(error), error
    pytest.fail(f"none of {TRIES} calls was aborted")


def is_interrupted(work: typing.Callable[[], object]) -> bool:
    """Whether Ctrl-C ends this; where the machine stands still, that may come before it or after."""
    own = threading.main_thread().ident
    assert own is not None
    interrupts = threading.Timer(0.2, signal.pthread_kill, (own, signal.SIGINT))
    try:
        interrupts.start()
        work()
        interrupts.join()
    except KeyboardInterrupt:
        return True
    return False


class Process:
    """A server in a process of its own, until its standard input ends. How it ended is looked at
    whoever ends it: one that has crashed, or raised what nobody caught, fails its test."""

    def __init__(self, *command: object) -> None:
        words = [str(word) for word in command]
        pipe = subprocess.PIPE
        self.words = words
        #: How it may end.
        self.codes = {0}
        self.said: str | None = None
        self.child = subprocess.Popen(
            words, env=confined(words[0]), stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        assert self.child.stdout is not None
        ready = self.child.stdout.readline()
        if ready != "ready\n":
            _, said = self.child.communicate(timeout=60)
            pytest.fail(f"{words} did not start: {ready}{said}")

    def stop(self) -> None:
        """Stops all of its threads, each of which may take a call until it has the signal."""
        self.child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.child.pid, os.WSTOPPED)

    def kill(self) -> None:
        """Kills it, and does not wait."""
        self.codes.add(-signal.SIGKILL)
        self.child.kill()

    def end(self) -> str:
        """Ends it, if it has not ended; what it said on standard error."""
        if self.said is None:
            _, self.said = self.child.communicate(timeout=60)
        code = self.child.returncode
        assert code in self.codes, f"{self.words} ended with {code}: {self.said}"
        return self.said


@pytest.fixture
def start(shapes: types.ModuleType) -> typing.Iterator[typing.Callable[..., Process]]:
    """Starts servers, and ends them."""
    started: list[Process] = []

    def start(*command: object) -> Process:
        started.append(Process(*command))
        return started[-1]

    yield start
    for process in started:
        process.end()


@pytest.fixture(scope="session")
def servers(shapes: types.ModuleType) -> typing.Iterator[None]:
    """A server in Rust, one in Python, and one in Python that is awaited, for tests that leave them
    as they are."""
    rust = Process(PROGRAMS / "shapes-server", "rust")
    script = ROOT / "bindings/python/tests/server.py"
    python = Process(sys.executable, script, shapes.__file__, "python")
    awaited = Process(sys.executable, script, shapes.__file__, "tasks", "awaited")
    yield
    rust.end()
    python.end()
    awaited.end()


@pytest.fixture(scope="session")
def passing_servers(passing: types.ModuleType) -> typing.Iterator[None]:
    """The same for what is passed beside messages, and item by item."""
    rust = Process(PROGRAMS / "passing-server", "vault-rust", "feeding-rust")
    script = ROOT / "bindings/python/tests/passing_server.py"
    python = Process(sys.executable, script, passing.__file__, "vault-python", "feeding-python")
    names = ["vault-tasks", "feeding-tasks"]
    awaited = Process(sys.executable, script, passing.__file__, *names, "awaited")
    yield
    rust.end()
    python.end()
    awaited.end()


@pytest.fixture(scope="session")
def talking_servers(talking: types.ModuleType) -> typing.Iterator[None]:
    """The same for what streams both ways."""
    rust = Process(PROGRAMS / "talking-server", "talking-rust")
    script = ROOT / "bindings/python/tests/talking_server.py"
    python = Process(sys.executable, script, talking.__file__, "talking-python")
    awaited = Process(sys.executable, script, talking.__file__, "talking-tasks", "awaited")
    yield
    assert rust.end() == ""
    assert python.end() == ""
    assert awaited.end() == ""


@pytest.fixture
def rust(servers: None, shapes: types.ModuleType) -> typing.Any:
    """A client of the server in Rust, with a binding of its own."""
    return shapes.ShapesClient.import_("rust")


@pytest.fixture
def python(servers: None, shapes: types.ModuleType) -> typing.Any:
    """A client of the server in Python, with a binding of its own."""
    return shapes.ShapesClient.import_("python")


@pytest.fixture
def tasks(servers: None, shapes: types.ModuleType) -> typing.Any:
    """A client of the server in Python that is awaited, with a binding of its own."""
    return shapes.ShapesClient.import_("tasks")


@pytest.fixture(params=["rust", "python", "tasks"])
def client(request: pytest.FixtureRequest) -> typing.Any:
    """A client of each."""
    return request.getfixturevalue(request.param)
