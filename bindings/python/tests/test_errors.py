"""Why there is no binding, or a call has no results: what a program can tell apart."""

from __future__ import annotations

import copy
import pathlib
import pickle
import re
import sys
import types
import typing

import pytest

import nearcall
from conftest import PROGRAMS, ROOT, SEEING, Process, aborted, generated

Module = types.ModuleType
Start = typing.Callable[..., Process]

#: Variants of Rust that are called otherwise here, or have no class of their own.
ALIASES = {
    "Hash": "OtherVersion",
    "Name": "BindError",
    "WrongDescriptor": "BindError",
    "Peer": "BindError",
    "System": "BindError",
}


def variants(enum: str) -> list[str]:
    """Those of an enum of errors in Rust."""
    text = (ROOT / "crates/nearcall/src/error.rs").read_text()
    found = re.search(rf"^pub enum {enum} {{\n(.*?)^}}", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return re.findall(r"^    ([A-Z]\w+)", found[1], re.MULTILINE)


def mapped(enum: str) -> dict[str, str]:
    """What the package makes of each of them."""
    text = (ROOT / "bindings/python/src/errors.rs").read_text()
    found = re.findall(rf'^ +{enum}::(\w+)[^=\n|]* => "(\w+)"', text, re.MULTILINE)
    return dict(found)


def test_each_reason_of_rust_is_one_here() -> None:
    names = variants("NotExecuted")
    assert len(names) >= 10
    wanted = {name: re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper() for name in names}
    assert mapped("NotExecuted") == wanted
    assert {reason.name for reason in nearcall.Reason} == set(wanted.values())


def test_each_error_of_a_bind_in_rust_is_told_apart_here() -> None:
    names = variants("BindError")
    assert len(names) >= 14
    wanted = {name: ALIASES.get(name, name) for name in names}
    own = {name: of for name, of in wanted.items() if of != "BindError"}
    assert mapped("BindError") == own
    classes = {of.__name__ for of in nearcall.BindError.__subclasses__()}
    assert classes == set(own.values())
    assert all(getattr(nearcall, name).__name__ == name for name in classes)
    # Those without a class are named all the same, so that a new one is thought of.
    text = (ROOT / "bindings/python/src/errors.rs").read_text()
    assert all(f"BindError::{name}" in text for name in names)


def test_each_error_of_a_call_in_rust_is_a_class_here() -> None:
    names = variants("CallError")
    assert len(names) >= 8
    text = (ROOT / "bindings/python/src/errors.rs").read_text()
    for name in names:
        assert f"CallError::{name}" in text
        of = getattr(nearcall, {"Usage": "UsageError"}.get(name, name))
        assert issubclass(of, nearcall.CallError)


def told(error: nearcall.Error) -> tuple[type, nearcall.Ran, bool]:
    return type(error), error.ran, error.may_retry


NO, MAYBE = nearcall.Ran.NO, nearcall.Ran.MAYBE


def test_a_name_that_nobody_exports_may_come(witness: Module) -> None:
    with pytest.raises(nearcall.BindError) as raised:
        witness.WitnessClient.import_("nobody")
    assert told(raised.value) == (nearcall.NoSuchName, NO, True)


def test_what_is_no_name_will_never_be_one(witness: Module) -> None:
    with pytest.raises(nearcall.BindError) as raised:
        witness.WitnessClient.import_("")
    assert told(raised.value) == (nearcall.BindError, NO, False)


def test_whoever_is_refused_by_policy_is_so_again(
    witness: Module, seeing: typing.Any, tmp_path: pathlib.Path
) -> None:
    closed, askers = tmp_path / "closed.toml", tmp_path / "askers.toml"
    closed.write_text('[[rule]]\nid = "closed"\nverdict = "refuse"\n')
    askers.write_text('[[rule]]\nid = "askers"\noperations = ["giver"]\nverdict = "admit"\n')
    for policy in (closed, askers):
        policy.chmod(0o600)
    with nearcall.export("closed", seeing, policy=closed) as exported:
        with pytest.raises(nearcall.BindError) as refused:
            witness.WitnessClient.import_("closed")
        exported.set_policy(askers)
        with pytest.raises(nearcall.NotExecuted) as not_permitted:
            witness.WitnessClient.import_("closed").left()
    assert told(refused.value) == (nearcall.NotAdmitted, NO, False)
    assert told(not_permitted.value) == (nearcall.NotExecuted, NO, False)
    assert not_permitted.value.reason is nearcall.Reason.NOT_PERMITTED
    assert not_permitted.value.incarnation is None


def test_another_interface_and_another_version_are_told_apart(
    witness: Module, seeing: typing.Any, tmp_path: pathlib.Path
) -> None:
    text = (ROOT / "tests/stubs-c/witness.idl").read_text()
    assert "seen(" in text
    outcomes = []
    for stem, changed in [
        ("elsewhere", text.replace("interface Witness", "interface Elsewhere")),
        ("changed", text.replace("seen(", "seen_now(")),
    ]:
        (tmp_path / f"{stem}.idl").write_text(changed)
        module = generated(tmp_path / f"{stem}.idl", tmp_path)
        client = getattr(module, "ElsewhereClient" if stem == "elsewhere" else "WitnessClient")
        with nearcall.export("other", seeing), pytest.raises(nearcall.BindError) as raised:
            client.import_("other")
        outcomes.append(told(raised.value))
    other, version = nearcall.OtherInterface, nearcall.OtherVersion
    assert outcomes == [(other, NO, False), (version, NO, False)]


#: A domain that serves two bindings at most, of which one user alone may have one, and has hardly
#: any room for what lies out of line.
NARROW = SEEING + """
import shapes

class Narrow(shapes.ShapesServer):
    swap = lambda self, given: (given, given)

for name in shapes.ShapesServer.__abstractmethods__ - {"swap"}:
    setattr(Narrow, name, lambda self, *_: None)
Narrow.__abstractmethods__ = frozenset()
nearcall.configure(nearcall.DomainOptions(bindings_max=2, mapped_bytes_max=4 << 20))
with nearcall.export("narrow", Narrow()):
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_server_without_room_may_have_some_later(
    start: Start, shapes: Module, witness: Module, tmp_path: pathlib.Path
) -> None:
    for module in (shapes, witness):
        path = pathlib.Path(module.__file__ or "")
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "narrow.py").write_text(NARROW)
    start(sys.executable, "-P", tmp_path / "narrow.py", tmp_path)
    client = shapes.ShapesClient.import_("narrow")
    with pytest.raises(nearcall.BindError, match="bindings") as raised:
        shapes.ShapesClient.import_("narrow")
    assert told(raised.value) == (nearcall.Overloaded, NO, True)
    with pytest.raises(nearcall.NotExecuted) as not_executed:
        client.swap(bytes(3 << 20))
    assert told(not_executed.value) == (nearcall.NotExecuted, NO, True)
    assert not_executed.value.reason is nearcall.Reason.OVERLOADED


def test_a_server_that_does_not_answer_may_do_so_later(start: Start, shapes: Module) -> None:
    process = start(PROGRAMS / "shapes-server", "stopped")
    process.stop()
    with pytest.raises(nearcall.BindError) as raised:
        shapes.ShapesClient.import_("stopped", timeout=0.05)
    assert told(raised.value) == (nearcall.TimedOut, NO, True)
    process.kill()


def test_a_rebind_in_vain_says_why_when_it_last_tried(start: Start, shapes: Module) -> None:
    process = start(PROGRAMS / "shapes-server", "vain")
    client = shapes.ShapesClient.import_("vain", rebind_timeout=0.05)
    process.kill()
    process.child.wait()
    with pytest.raises(nearcall.BindError) as raised:
        client.binding.rebind()
    assert told(raised.value) == (nearcall.NotReady, NO, True)
    assert isinstance(raised.value.__cause__, nearcall.NoSuchName)


def test_a_call_to_a_server_that_shuts_down_may_be_made_over_another_binding(
    witness: Module, seeing: typing.Any
) -> None:
    with nearcall.export("withdrawn", seeing):
        client = witness.WitnessClient.import_("withdrawn")
        assert client.seen() == 9
    # The first may come before the news of why, and is then refused by the server itself.
    while True:
        is_revoked = client.binding.is_revoked
        with pytest.raises(nearcall.NotExecuted) as raised:
            client.seen()
        assert told(raised.value) == (nearcall.NotExecuted, NO, True)
        reason = raised.value.reason
        if is_revoked:
            break
        assert reason in (nearcall.Reason.REFUSED, nearcall.Reason.REVOKED)
    assert reason is nearcall.Reason.REVOKED
    with nearcall.export("withdrawn", seeing):
        assert witness.WitnessClient(client.binding.rebind()).seen() == 9


def test_a_server_that_dies_tells_which_life_held_the_call(start: Start, shapes: Module) -> None:
    script = ROOT / "bindings/python/tests/posting_server.py"
    process = start(sys.executable, script, shapes.__file__, "lives")
    client = shapes.BaseClient.import_("lives")
    begun = client.posting.null()
    assert process.child.stdout is not None and process.child.stdout.readline() == "begun\n"
    process.stop()
    waiting = client.posting.add(1, 2)
    process.kill()
    with pytest.raises(nearcall.CallFailed) as failed:
        begun.collect()
    assert told(failed.value) == (nearcall.CallFailed, MAYBE, False)
    assert failed.value.incarnation == client.binding.incarnation > 0
    with pytest.raises(nearcall.NotExecuted) as not_executed:
        waiting.collect()
    assert told(not_executed.value) == (nearcall.NotExecuted, NO, True)
    assert not_executed.value.reason is nearcall.Reason.SERVER_ENDED
    assert not_executed.value.incarnation is None


def test_a_call_that_is_aborted_tells_in_which_life_it_is(rust: typing.Any) -> None:
    error = aborted(lambda: rust.with_deadline(0.05).wait(3_000))
    assert told(error) == (nearcall.CallAborted, MAYBE, False)
    assert error.incarnation == rust.binding.incarnation
    with pytest.raises(nearcall.NotExecuted) as late:
        rust.with_deadline(0).null()
    assert told(late.value) == (nearcall.NotExecuted, NO, False)
    assert late.value.reason is nearcall.Reason.DEADLINE_PASSED


def test_what_the_caller_did_wrong_goes_wrong_again(rust: typing.Any) -> None:
    with pytest.raises(nearcall.UsageError) as raised:
        rust.percent(200, [])
    assert told(raised.value) == (nearcall.UsageError, NO, False)
    with pytest.raises(nearcall.Panicked) as panicked:
        rust.fail()
    assert told(panicked.value) == (nearcall.Panicked, nearcall.Ran.YES, False)


def test_errors_are_copied_and_pickled_with_all_that_they_say() -> None:
    reason = nearcall.Reason.OVERLOADED
    errors = [
        nearcall.NotExecuted("no room", reason=reason, ran=NO, may_retry=True),
        nearcall.CallFailed("failed", ran=MAYBE, incarnation=7),
        nearcall.Overloaded("no room", may_retry=True),
    ]
    for error in errors:
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert (told(other), other.args) == (told(error), error.args)
            assert vars(other) == vars(error) and repr(other) == repr(error)
    assert repr(errors[0]) == "NotExecuted('no room')"


def test_what_an_interface_declares_is_copied_and_pickled_however_it_was_made(
    shapes: Module,
) -> None:
    place = shapes.Point(1.0, 2.0)
    by_name = shapes.Refused(why="no", code=5, place=place)
    for error in (shapes.Refused("no", 5, place), by_name, shapes.Gone()):
        error.add_note("a note")
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(other) is type(error)
            assert (vars(other), other.args) == (vars(error), error.args)
    by_name.code = 6
    assert pickle.loads(pickle.dumps(by_name)).code == 6
