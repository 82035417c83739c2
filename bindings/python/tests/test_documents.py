"""What the documents of the package and of its example show is what comes out."""

from __future__ import annotations

import pathlib
import re
import signal
import subprocess
import sys
import textwrap

from conftest import PROGRAMS, ROOT, compile_python, confined
from test_types import mypy

#: Of the README: a file by its name, and a terminal.
FILE = re.compile(r"^`(\w+\.\w+)`:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TERMINAL = re.compile(r"^```console\n\$ python (\w+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def told(place: pathlib.Path, script: str) -> str:
    """What a script there prints."""
    command = [sys.executable, script]
    env = confined(command[0])
    ran = subprocess.run(
        command, cwd=place, env=env, check=True, stdout=subprocess.PIPE, text=True
    )
    return ran.stdout


class Exported:
    """A server in a process of its own, which says when it exports, and runs until it is ended."""

    def __init__(self, place: pathlib.Path, *command: object) -> None:
        words = [str(word) for word in command]
        env, pipe = confined(words[0]), subprocess.PIPE
        self.child = subprocess.Popen(words, cwd=place, env=env, stdout=pipe, text=True)

    def __enter__(self) -> None:
        assert self.child.stdout is not None
        said = self.child.stdout.readline()
        assert "is exported" in said, said

    def __exit__(self, *_raised: object) -> None:
        self.child.terminate()
        self.child.communicate(timeout=10)
        # It has lived until then.
        assert self.child.returncode == -signal.SIGTERM


def test_the_readme_shows_what_comes_out(tmp_path: pathlib.Path) -> None:
    readme = (ROOT / "bindings/python/README.md").read_text()
    files, shown = dict(FILE.findall(readme)), TERMINAL.findall(readme)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    interfaces = [name for name in files if name.endswith(".idl")]
    assert interfaces == ["calc.idl", "places.idl"]
    for name in interfaces:
        compile_python(tmp_path / name, (tmp_path / name).with_suffix(".py"))
    with Exported(tmp_path, sys.executable, "server.py"):
        assert {name for name, _ in shown} == {
            name for name in files if name not in (*interfaces, "server.py")
        }
        assert len(shown) == 8
        for name, expected in shown:
            assert told(tmp_path, name) == expected, name
    checked = mypy(tmp_path, *(name for name in files if name.endswith(".py")))
    assert checked.returncode == 0, checked.stdout


def test_every_block_of_code_is_a_file_or_a_terminal() -> None:
    readme = (ROOT / "bindings/python/README.md").read_text()
    # One block installs, one compiles and starts the server.
    assert readme.count("\n```\n") == len(FILE.findall(readme)) + len(TERMINAL.findall(readme)) + 2


def test_the_client_of_the_grpc_document_is_typed(tmp_path: pathlib.Path) -> None:
    document = (ROOT / "docs/grpc.md").read_text()
    shown = re.search(r"^```python\n(orders = await .*?)^```$", document, re.DOTALL | re.MULTILINE)
    assert shown is not None
    compile_python(ROOT / "testkit/orders.proto", tmp_path / "orders.py")
    head = (
        "import asyncio\nimport nearcall\n"
        "from orders import GetOrderRequest, OrdersAsyncClient, RpcStatus, WatchRequest, What\n\n\n"
        "async def main() -> None:\n"
    )
    (tmp_path / "client.py").write_text(head + textwrap.indent(shown.group(1), "    "))
    checked = mypy(tmp_path, "client.py")
    assert checked.returncode == 0, checked.stdout


def test_the_times_of_the_grpc_document_are_typed_and_told(tmp_path: pathlib.Path) -> None:
    document = (ROOT / "docs/grpc.md").read_text()
    shown = re.search(r"^```python\n(span = .*?)^```$", document, re.DOTALL | re.MULTILINE)
    assert shown is not None
    compile_python(ROOT / "tests/idl/python/laps.proto", tmp_path / "spans.py")
    head = (
        "from datetime import datetime, timedelta, timezone\n"
        "from spans import Duration, Span, Timestamp\n\n"
    )
    (tmp_path / "told.py").write_text(head + shown.group(1))
    assert re.fullmatch(r"20\d\d-.*T.*\+00:00\n", told(tmp_path, "told.py"))
    checked = mypy(tmp_path, "told.py")
    assert checked.returncode == 0, checked.stdout


def test_the_example_drives_its_engine(tmp_path: pathlib.Path) -> None:
    example = ROOT / "examples/03-python"
    for name in ("engine.idl", "drive.py"):
        (tmp_path / name).write_bytes((example / name).read_bytes())
    compile_python(tmp_path / "engine.idl", tmp_path / "engine.py")
    with Exported(tmp_path, PROGRAMS / "python-example"):
        lines = told(tmp_path, "drive.py").splitlines()
    readme = (example / "README.md").read_text().splitlines()
    at = readme.index("$ python examples/03-python/drive.py")
    # How long a call takes differs.
    assert lines[:3] == readme[at + 1 : at + 4]
    assert re.fullmatch(r"a call takes \d+\.\d\d us", lines[3]) and len(lines) == 4
    checked = mypy(tmp_path, "drive.py")
    assert checked.returncode == 0, checked.stdout
