"""What the compiler writes is content with ``mypy --strict``, and so is the package."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from conftest import ROOT, compile_python, confined

INTERFACES = sorted(
    path
    for folder in ("c", "good", "python", "rust")
    for path in (ROOT / "tests/idl" / folder).iterdir()
    if path.suffix in (".idl", ".proto")
)


def mypy(own: pathlib.Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    # What mypy makes of NumPy is kept from one test to the next.
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(own.parent / "mypy")]
    command += map(str, arguments)
    return subprocess.run(command, cwd=own, capture_output=True, text=True, check=False)


def test_generated_modules_are_typed_and_can_be_imported(tmp_path: pathlib.Path) -> None:
    assert len(INTERFACES) > 15
    modules = []
    for path in INTERFACES:
        modules.append(f"made_{path.parent.name}_{path.stem.replace('-', '_')}")
        compile_python(path, tmp_path / f"{modules[-1]}.py")
    checked = mypy(tmp_path, *(f"{module}.py" for module in modules))
    assert checked.returncode == 0, checked.stdout
    imports = "; ".join(f"import {module}" for module in modules)
    command = [sys.executable, "-c", imports]
    subprocess.run(command, cwd=tmp_path, env=confined(command[0]), check=True)


def test_a_wrong_call_is_found(tmp_path: pathlib.Path) -> None:
    compile_python(ROOT / "tests/idl/python/shapes.idl", tmp_path / "shapes.py")
    (tmp_path / "wrong.py").write_text(
        "import shapes\n"
        "client = shapes.ShapesClient.import_('x')\n"
        "sum: str = client.add(1, 2)\n"
        "client.add('1', 2)\n"
        "client.text(b'', '')\n"
        "client.choose(shapes.Choice('1', 1))\n"
    )
    checked = mypy(tmp_path, "wrong.py")
    assert checked.stdout.count("error:") == 4, checked.stdout


def test_an_array_of_another_type_is_found(tmp_path: pathlib.Path) -> None:
    compile_python(ROOT / "tests/idl/python/shapes.idl", tmp_path / "shapes.py")
    head = "import array, ctypes, numpy\nimport shapes\nclient = shapes.ShapesClient.import_('x')\n"
    (tmp_path / "right.py").write_text(
        head + "doubles = numpy.zeros((2, 3))\n"
        "client.scale(doubles[0], 1)\n"
        "client.turn(doubles, [doubles.tolist()])\n"
        "client.scale(memoryview(array.array('d')), 1)\n"
        "client.scale(array.array('d'), 1)\n"
        "client.scale((ctypes.c_double * 3)(), 1)\n"
        "client.scale([1, 2.5], 1)\n"
        "client.narrow(doubles.astype(numpy.float32))\n"
        "client.percent(1, numpy.arange(3, dtype=numpy.int32))\n"
        "client.bytes_(doubles)\n"
        "import nearcall.raw\n"
        "wide: nearcall.raw.Int64s = numpy.arange(3)\n"
    )
    (tmp_path / "wrong.py").write_text(
        head + "singles, whole = numpy.zeros(3, numpy.float32), numpy.zeros((2, 3), numpy.int64)\n"
        "client.scale(singles, 1)\n"
        "client.turn(whole, [])\n"
        "client.narrow(numpy.zeros(3))\n"
        "client.percent(1, numpy.arange(3, dtype=numpy.int64))\n"
    )
    checked = mypy(tmp_path, "right.py", "wrong.py")
    assert checked.stdout.count("wrong.py") == 4, checked.stdout
    assert checked.stdout.count("error:") == 4, checked.stdout


def test_a_wrong_use_of_feeds_and_descriptors_is_found(tmp_path: pathlib.Path) -> None:
    compile_python(ROOT / "tests/idl/python/passing.idl", tmp_path / "passing.py")
    (tmp_path / "right.py").write_text(
        "import os, socket, typing\n"
        "import nearcall, passing\n"
        "client = passing.FeedingClient.import_('x')\n"
        "keys: list[int] = [row.key for row in client.rows('', 1, 2)]\n"
        "with client.load('', 1) as load:\n"
        "    load.put(passing.Row(1, ''))\n"
        "    count: int = load.end()\n"
        "async def waits() -> list[str]:\n"
        "    waiting = passing.FeedingAsyncClient(client.binding)\n"
        "    async with await waiting.joined() as joined:\n"
        "        await joined.put('')\n"
        "    return [row.name async for row in await waiting.rows('', 1, 2)]\n"
        "vault = passing.VaultClient.import_('x')\n"
        "with open('x') as file, socket.socket() as link:\n"
        "    back, same = vault.swap(file, '', link.fileno())\n"
        "os.fdopen(back.detach())\n"
        "class Sum(nearcall.Taker[int, int]):\n"
        "    def take(self, item: int) -> None: ...\n"
        "    def end(self) -> int: return 1\n"
        "class Some(passing.FeedingServer):\n"
        "    def sum(self) -> nearcall.Taker[int, int]: return Sum()\n"
        "    def numbers(self, count: int, pause_ms: int) -> typing.Iterator[int]: yield 1\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import passing\n"
        "client = passing.FeedingClient.import_('x')\n"
        "names: list[int] = [row.name for row in client.rows('', 1, 2)]\n"
        "client.load('', 1).put(1)\n"
        "made: str = client.sum().end()\n"
        "for row in client.load('', 1): pass\n"
        "passing.VaultClient.import_('x').close('file')\n"
        "class Some(passing.FeedingServer):\n"
        "    def sum(self) -> list[int]: return []\n"
    )
    checked = mypy(tmp_path, "right.py")
    assert checked.returncode == 0, checked.stdout
    checked = mypy(tmp_path, "wrong.py")
    assert checked.stdout.count("error:") == 6, checked.stdout


def test_a_wrong_use_of_a_case_is_found(tmp_path: pathlib.Path) -> None:
    compile_python(ROOT / "tests/idl/python/shapes.idl", tmp_path / "shapes.py")
    (tmp_path / "right.py").write_text(
        "import shapes\n"
        "choice: shapes.Choice = shapes.Choice.text('here')\n"
        "number: int = shapes.Choice.number(1).number\n"
        "value: int = shapes.Maybe.value_(1).value_\n"
        "def told(choice: shapes.Choice) -> str:\n"
        "    match choice:\n"
        "        case shapes.Choice(text=text): return text\n"
        "        case shapes.Choice(number=number): return str(number + 1)\n"
        "    return str(choice.otherwise + 0.5)\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import shapes\n"
        "choice = shapes.Choice.text(1)\n"
        "other: shapes.Maybe = shapes.Choice.number(1)\n"
        "text: str = choice.number\n"
        "shapes.Choice.nothing(1)\n"
        "choice.text = 1\n"
    )
    checked = mypy(tmp_path, "right.py")
    assert checked.returncode == 0, checked.stdout
    checked = mypy(tmp_path, "wrong.py")
    assert {int(line.split(":")[1]) for line in checked.stdout.splitlines() if "error:" in line} == {
        2, 3, 4, 5, 6,
    }, checked.stdout  # fmt: skip


def test_a_wrong_use_of_posted_calls_is_found(tmp_path: pathlib.Path) -> None:
    compile_python(ROOT / "tests/idl/python/shapes.idl", tmp_path / "shapes.py")
    (tmp_path / "right.py").write_text(
        "import nearcall, shapes\n"
        "posting = shapes.ShapesClient.import_('x').posting\n"
        "pending: nearcall.Pending[int] = posting.add(1, 2)\n"
        "sum: int = pending.collect()\n"
        "nothing: nearcall.Pending[None] = posting.null()\n"
        "halves: tuple[bytes, bytes] = posting.swap(b'').collect()\n"
        "sums: list[int] = nearcall.call_all([1, 2], lambda one: posting.add(one, 1))\n"
        "all: list[int | Exception] = nearcall.call_all(\n"
        "    [(1, 2)], lambda pair: posting.add(*pair), return_exceptions=True)\n"
        "if pending.is_replied: pending.cancel()\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import nearcall, shapes\n"
        "posting = shapes.ShapesClient.import_('x').posting\n"
        "sum: int = posting.add(1, 2)\n"
        "text: str = posting.add(1, 2).collect()\n"
        "posting.post(1)\n"
        "sums: list[str] = nearcall.call_all([1], lambda one: posting.add(one, 1))\n"
    )
    checked = mypy(tmp_path, "right.py")
    assert checked.returncode == 0, checked.stdout
    checked = mypy(tmp_path, "wrong.py")
    assert {int(line.split(":")[1]) for line in checked.stdout.splitlines() if "error:" in line} == {
        3, 4, 5, 6,
    }, checked.stdout  # fmt: skip


def test_what_errors_say_is_typed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "right.py").write_text(
        "import nearcall\n"
        "def waits(error: nearcall.Error) -> bool:\n"
        "    if isinstance(error, nearcall.NotExecuted):\n"
        "        match error.reason:\n"
        "            case nearcall.Reason.OVERLOADED: return True\n"
        "            case reason: return bool(reason.value)\n"
        "    if isinstance(error, nearcall.CallFailed) and error.incarnation is not None:\n"
        "        return error.incarnation > 0\n"
        "    return error.may_retry or isinstance(error, nearcall.Overloaded)\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import nearcall\n"
        "name: str = nearcall.NotExecuted('', reason=nearcall.Reason.REFUSED).reason\n"
        "nearcall.NotExecuted('no reason')\n"
        "number: int = nearcall.CallFailed().incarnation\n"
        "nearcall.Overloaded().reason\n"
    )
    checked = mypy(tmp_path, "right.py")
    assert checked.returncode == 0, checked.stdout
    checked = mypy(tmp_path, "wrong.py")
    assert {int(line.split(":")[1]) for line in checked.stdout.splitlines() if "error:" in line} == {
        2, 3, 4, 5,
    }, checked.stdout  # fmt: skip


def test_the_package_is_typed(tmp_path: pathlib.Path) -> None:
    checked = mypy(tmp_path, "-p", "nearcall")
    assert checked.returncode == 0, checked.stdout


def test_the_example_is_typed(tmp_path: pathlib.Path) -> None:
    example = ROOT / "examples/03-python"
    compile_python(example / "engine.idl", tmp_path / "engine.py")
    (tmp_path / "drive.py").write_text((example / "drive.py").read_text())
    checked = mypy(tmp_path, "drive.py")
    assert checked.returncode == 0, checked.stdout
