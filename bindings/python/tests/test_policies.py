"""Exports by a policy file, and by another one while they are there."""

from __future__ import annotations

import pathlib
import types
import typing

import pytest

import nearcall

Witness = types.ModuleType

#: Whoever binds may ask for one thing.
ONE = '[[rule]]\nid = "askers"\noperations = ["giver"]\nverdict = "admit"\n'

#: Nobody may bind.
NOBODY = '[[rule]]\nid = "closed"\nverdict = "refuse"\n'

#: No policy: a key that there is not.
WRONG = '[[rule]]\nid = "typo"\nuser_id = 0\nverdict = "admit"\n'

Written = typing.Callable[[str], pathlib.Path]


@pytest.fixture
def written(tmp_path: pathlib.Path) -> Written:
    def write(rules: str) -> pathlib.Path:
        path = tmp_path / "policy.toml"
        path.write_text(rules)
        path.chmod(0o600)  # nobody else may write it, whatever the umask
        return path

    return write


def test_a_file_says_who_may_bind_and_what_it_may_call(
    witness: Witness, seeing: typing.Any, written: Written
) -> None:
    with nearcall.export("guarded", seeing, policy=written(ONE)) as exported:
        client = witness.WitnessClient.import_("guarded")
        assert client.giver() == 7
        with pytest.raises(nearcall.NotExecuted, match="policy"):
            client.left()
        with pytest.raises(nearcall.ExportError, match="line 3: .*user_id"):
            exported.set_policy(written(WRONG))
        assert client.giver() == 7
        assert exported.set_policy(str(written(NOBODY))) == 1
        with pytest.raises(nearcall.NotAdmitted):
            witness.WitnessClient.import_("guarded")
        assert exported.set_policy(written(ONE)) == 0
        assert witness.WitnessClient.import_("guarded").giver() == 7


def test_a_file_that_is_none_is_refused(
    tmp_path: pathlib.Path, seeing: typing.Any, written: Written
) -> None:
    with pytest.raises(nearcall.ExportError, match="policy.toml: line 3: .*user_id"):
        nearcall.export("guarded", seeing, policy=written(WRONG))
    with pytest.raises(nearcall.ExportError, match="missing"):
        nearcall.export("guarded", seeing, policy=tmp_path / "missing")
    with pytest.raises(nearcall.ExportError, match="policy.toml: it has mode 0602"):
        open_to_all = written(ONE)
        open_to_all.chmod(0o602)
        nearcall.export("guarded", seeing, policy=open_to_all)
    with pytest.raises(ValueError, match="open to anyone"):
        nearcall.export("guarded", seeing, policy=written(ONE), is_open_to_anyone=True)


def test_a_client_may_have_the_server_add_astacks(witness: Witness, seeing: typing.Any) -> None:
    with nearcall.export("growing", seeing):
        client = witness.WitnessClient.import_("growing", grows=True)
        count = client.binding.astack_count
        calls = [client.posting.seen() for _ in range(2 * count)]
        assert [call.collect() for call in calls] == [9] * (2 * count)
        assert client.binding.astack_count > count
