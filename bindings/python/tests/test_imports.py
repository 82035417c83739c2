"""What `import nearcall` brings with it: programs start as often as they call."""

import pathlib
import subprocess
import sys

import nearcall
from conftest import confined


def said(program: str) -> str:
    """What a program of its own prints."""
    command = [sys.executable, "-P", "-c", program]
    env = confined(command[0])
    ran = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def test_what_takes_long_to_import_comes_when_it_is_needed() -> None:
    heavy = "('asyncio', 'concurrent.futures', 'numpy')"
    found = f"[name for name in {heavy} if name in sys.modules]"
    assert said(f"import sys, nearcall, nearcall.raw; print({found})") == "[]"
    # The same look finds what is there.
    assert said(f"import sys, numpy, nearcall; print({found}[-1])") == "numpy"


def test_what_is_awaited_is_found_where_it_always_was() -> None:
    assert said("import nearcall; print(nearcall.AsyncFeed.__name__)") == "AsyncFeed"
    assert said("from nearcall import *; print(AsyncSink.__name__)") == "AsyncSink"


def test_a_name_that_there_is_not_is_named() -> None:
    program = """
import nearcall

try:
    nearcall.AsyncFed
except AttributeError as error:
    print(error)
"""
    assert said(program) == "module 'nearcall' has no attribute 'AsyncFed'"
    assert not hasattr(nearcall, "Async")


def test_records_without_arrays_are_compared_without_numpy() -> None:
    program = """
import sys
from nearcall import raw

class Pair(raw.Record):
    __slots__ = ("one", "other")
    def __init__(self, one, other):
        self.one, self.other = one, other

print(Pair([1], {2: 3}) == Pair([1], {2: 3}), Pair([1], 2) == Pair([2], 2), "numpy" in sys.modules)
"""
    assert said(program) == "True False False"


def test_what_protoc_makes_of_our_options_is_in_the_package(tmp_path: pathlib.Path) -> None:
    (tmp_path / "nearcall").mkdir()
    (tmp_path / "nearcall/options_pb2.py").write_text("DESCRIPTOR = 'made'\n")
    program = f"""
import sys

sys.path.insert(0, {str(tmp_path)!r})
from nearcall import options_pb2
import nearcall

print(options_pb2.DESCRIPTOR, nearcall.AsyncFeed.__name__)
"""
    assert said(program) == "made AsyncFeed"
