"""The knobs of a domain, of imports and of exports: each is the runtime's own, under its name."""

from __future__ import annotations

import inspect
import pathlib
import resource
import subprocess
import sys
import time
import types
import typing

import pytest

import nearcall
from conftest import ROOT, SEEING, TRIES, confined

#: How many there are of each.
CLASSES: list[tuple[type, int]] = [(nearcall.WaitPolicy, 11), (nearcall.DomainOptions, 13)]


def knobs(of: type) -> list[str]:
    """The names of a class's knobs."""
    return [name for name, _ in inspect.getmembers(of, inspect.isgetsetdescriptor)]


def test_what_nobody_says_is_as_usual() -> None:
    wait, domain = nearcall.WaitPolicy(), nearcall.DomainOptions()
    assert (wait.linger_cycles_max, wait.spin_ns_max) == (560, 50_000)
    assert (wait.sleep_slice_ns_min, wait.sleep_slice_ns_max) == (200_000, 20_000_000)
    assert (domain.processors_max, domain.mapped_bytes_max) == (64, 64 << 30)
    assert (domain.mappings_max, domain.open_descriptors_max) == (None, None)
    assert (domain.introduction_timeout, domain.is_dumpable) == (10.0, True)
    assert domain.wait == wait


def test_each_knob_is_set_and_told_under_its_name() -> None:
    for of, count in CLASSES:
        names = knobs(of)
        assert len(names) == count
        given: dict[str, typing.Any] = {name: 2 * number + 5 for number, name in enumerate(names)}
        for name in ("raises_descriptor_limit", "is_dumpable"):
            given |= {name: False} if name in names else {}
        given |= {"wait": nearcall.WaitPolicy(yields_max=3)} if "wait" in names else {}
        made = of(**given)
        for name in names:
            assert getattr(made, name) == given[name], name
            assert f"{name}={getattr(made, name)!r}" in repr(made)
            usual, alone = of(), of(**{name: given[name]})
            changed = [one for one in names if getattr(alone, one) != getattr(usual, one)]
            assert changed == [name]
        assert made == of(**given) and made != of()


def test_users_are_told_of_each_knob() -> None:
    manual = (ROOT / "docs/performance.md").read_text()
    for of, count in CLASSES:
        told = [name for name in knobs(of) if f"`{name}`" in manual]
        assert len(told) == count


@pytest.mark.parametrize(
    ("said", "error", "told"),
    [
        ({"processors_max": -1}, ValueError, "processors_max is -1: it may be 0 to 4294967295"),
        ({"own_bytes_max": 1 << 64}, ValueError, "it may be 0 to 18446744073709551615"),
        ({"mappings_max": 1 << 32}, ValueError, "mappings_max is 4294967296: it may be 0 to"),
        ({"bindings_max": "7"}, TypeError, "bindings_max is '7': a whole number is wanted"),
        ({"is_dumpable": 1}, TypeError, "is_dumpable is 1: True or False is wanted"),
        ({"wait": 5}, TypeError, "wait is 5: a nearcall.WaitPolicy is wanted"),
        ({"introduction_timeout": "x"}, TypeError, "is 'x': a number of seconds is wanted"),
        ({"introduction_timeout": -1.5}, ValueError, "introduction_timeout is -1.5 seconds: it may"),
        ({"bindings": 5}, TypeError, "bindings"),
    ],
)
def test_what_a_knob_cannot_be_is_told(
    said: dict[str, typing.Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error) as raised:
        nearcall.DomainOptions(**said)
    assert told in str(raised.value)


#: A domain that serves two bindings at most, of which one user alone may have one.
CONFIGURED = SEEING + """
nearcall.configure(nearcall.DomainOptions(bindings_max=2))


with nearcall.export("configured", Seeing()):
    first = witness.WitnessClient.import_("configured")
    print(first.seen())
    try:
        witness.WitnessClient.import_("configured")
    except nearcall.BindError as error:
        print(error)
try:
    nearcall.configure(nearcall.DomainOptions())
except RuntimeError as error:
    print(error)
"""


def test_a_domain_is_configured_before_it_is_there(
    witness: types.ModuleType, tmp_path: pathlib.Path
) -> None:
    script = tmp_path / "configured.py"
    script.write_text(CONFIGURED)
    place = pathlib.Path(witness.__file__ or "").parent
    command = [sys.executable, "-P", str(script), str(place)]
    env = confined(command[0])
    ran = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    said, refused, late = ran.stdout.splitlines()
    assert said == "9"
    assert "bindings" in refused
    assert late == (
        "nearcall has been used by this process: configure it before it imports or exports"
    )


def test_a_name_goes_to_a_directory_and_is_looked_up_there(
    witness: types.ModuleType, seeing: typing.Any, tmp_path: pathlib.Path
) -> None:
    tmp_path.chmod(0o700)
    with nearcall.export("elsewhere", seeing, directory=tmp_path) as exported:
        assert pathlib.Path(exported.clerk.path).parent == tmp_path
        client = witness.WitnessClient.import_("elsewhere", directory=tmp_path)
        assert client.seen() == 9
        with pytest.raises(nearcall.NoSuchName):
            witness.WitnessClient.import_("elsewhere")
    with pytest.raises(nearcall.NoSuchName):
        witness.WitnessClient.import_("elsewhere", directory=tmp_path)


def test_a_binding_waits_as_it_is_told(
    witness: types.ModuleType, seeing: typing.Any, tmp_path: pathlib.Path
) -> None:
    seeing.__class__.linger = lambda _self: time.sleep(0.3)

    def slept(slice_ns: int) -> int:
        """How often a call slept that took 0.3 s."""
        wait = nearcall.WaitPolicy(sleep_slice_ns_min=slice_ns, sleep_slice_ns_max=slice_ns)
        client = witness.WitnessClient.import_("waited", wait=wait)
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        client.linger()
        return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before

    with nearcall.export("waited", seeing):
        # In slices of 1 ms some 300 times, in one slice a few: looks at the lock of the
        # interpreter are among them. One that does not run meanwhile does not sleep either.
        tried = [(slept(1_000_000), slept(1_000_000_000))]
        while tried[-1][0] <= 3 * tried[-1][1] + 30 and len(tried) < TRIES:
            tried.append((slept(1_000_000), slept(1_000_000_000)))
        assert tried[-1][0] > 3 * tried[-1][1] + 30, tried


@pytest.mark.parametrize(
    ("said", "error", "told"),
    [
        ({"name": 5}, TypeError, "name is 5: a str is wanted"),
        ({"timeout": "1"}, TypeError, "timeout is '1': a number of seconds is wanted"),
        ({"timeout": -1}, ValueError, "timeout is -1.0 seconds: it may be 0 to"),
        ({"ready_timeout": b"1"}, TypeError, "ready_timeout is b'1': a number of seconds"),
        ({"ready_pidfd": "1"}, TypeError, "ready_pidfd: str where a descriptor, an int or"),
        ({"ready_pidfd": -1}, nearcall.UsageError, "ready_pidfd is -1, which is not open"),
        ({"rebind_timeout": float("nan")}, ValueError, "rebind_timeout is NaN seconds"),
        ({"grows": 1}, TypeError, "grows is 1: True or False is wanted"),
        ({"directory": 5}, TypeError, "directory is 5: a str or an os.PathLike is wanted"),
        ({"wait": 5}, TypeError, "wait is 5: a nearcall.WaitPolicy is wanted"),
    ],
)
def test_what_an_import_cannot_be_told_is_named(
    witness: types.ModuleType, said: dict[str, typing.Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error) as raised:
        witness.WitnessClient.import_(**{"name": "nobody", **said})
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"name": None}, "name is None: a str is wanted"),
        ({"directory": 5}, "directory is 5: a str or an os.PathLike is wanted"),
        ({"policy": 5}, "policy is 5: a str or an os.PathLike is wanted"),
        ({"is_open_to_anyone": "yes"}, "is_open_to_anyone is 'yes': True or False is wanted"),
    ],
)
def test_what_an_export_cannot_be_told_is_named(
    seeing: typing.Any, said: dict[str, typing.Any], told: str
) -> None:
    with pytest.raises(TypeError) as raised:
        nearcall.export(server=seeing, **{"name": "nowhere", **said})
    assert told in str(raised.value)


def test_what_a_client_cannot_be_told_is_named(
    witness: types.ModuleType, seeing: typing.Any
) -> None:
    with nearcall.export("told", seeing) as exported:
        client = witness.WitnessClient.import_("told")
        asked: list[tuple[typing.Callable[[typing.Any], object], str, str]] = [
            (client.with_deadline, "x", "deadline is 'x': a number of seconds is wanted"),
            (client.binding.flush, None, "timeout is None: a number of seconds is wanted"),
            (client.binding.lend, 1.5, "bytes is 1.5: a whole number is wanted"),
            (client.binding.lend, -1, "bytes is -1: it may be 0 to"),
            (exported.set_policy, 5, "path is 5: a str or an os.PathLike is wanted"),
            (nearcall.configure, 5, "options is 5: a nearcall.DomainOptions is wanted"),
        ]
        for ask, given, told in asked:
            with pytest.raises((TypeError, ValueError)) as raised:
                ask(given)
            assert told in str(raised.value)
