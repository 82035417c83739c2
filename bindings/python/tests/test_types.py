"""What the compiler writes is content with ``mypy --strict``, and so is the package."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from conftest import ROOT, compile_python

# What Python does not have yet: the compiler refuses it by name (tested there).
NOT_IN_PYTHON = {"feeds.idl"}

INTERFACES = sorted(
    path
    for folder in ("good", "python", "rust")
    for path in (ROOT / "tests/idl" / folder).glob("*.idl")
    if path.name not in NOT_IN_PYTHON
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
    subprocess.run([sys.executable, "-c", imports], cwd=tmp_path, check=True)


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


def test_the_package_is_typed(tmp_path: pathlib.Path) -> None:
    checked = mypy(tmp_path, "-p", "nearcall")
    assert checked.returncode == 0, checked.stdout


def test_the_example_is_typed(tmp_path: pathlib.Path) -> None:
    example = ROOT / "examples/02-python"
    compile_python(example / "engine.idl", tmp_path / "engine.py")
    (tmp_path / "drive.py").write_text((example / "drive.py").read_text())
    checked = mypy(tmp_path, "drive.py")
    assert checked.returncode == 0, checked.stdout
