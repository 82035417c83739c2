"""Two values of one type that change places: no message tells such versions apart, so that the bind
is refused and names the procedure. In a .proto file a field is known by its number, and may have
another name."""

from __future__ import annotations

import pathlib
import types
import typing

import pytest

import nearcall
from conftest import ROOT, generated

Versions = dict[str, types.ModuleType]

PROTO = """syntax = "proto3";
message Place {{ {fields} }}
enum Side {{ {values} }}
service Mover {{ rpc Reach(Place) returns (Place); }}
"""


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    """One version, and two in which something has moved."""

    def version(name: str) -> types.ModuleType:
        interface = ROOT / pathlib.Path("tests/stubs-c/versions") / f"{name}.idl"
        return generated(interface, tmp_path_factory.mktemp(name))

    return {name: version(name) for name in ("straight", "turned", "mirrored")}


def mover(module: types.ModuleType) -> typing.Any:
    """A server of any version; its parameters are called as the file has them."""

    class Mover(module.MoverServer):  # type: ignore[name-defined, misc]
        def carry(self, first: int, second: int) -> int:
            return 10 * first + second

        def reach(self, place: typing.Any) -> int:
            return 10 * int(place.x) + int(place.y)

    return Mover()


@pytest.mark.parametrize(
    ("moved", "procedure"),
    [("turned", "procedure 0, `carry`"), ("mirrored", "procedure 1, `reach`")],
)
def test_what_changes_places_is_refused_by_name_both_ways(
    versions: Versions, moved: str, procedure: str
) -> None:
    for here, there in (("straight", moved), (moved, "straight")):
        name = f"{here}-{there}"
        with nearcall.export(name, mover(versions[there])):
            with pytest.raises(nearcall.BindError, match=procedure):
                versions[here].MoverClient.import_(name)


def test_what_has_not_moved_binds(versions: Versions) -> None:
    straight = versions["straight"]
    with nearcall.export("straight", mover(straight)):
        client = straight.MoverClient.import_("straight")
        assert client.carry(1, 2) == 12
        assert client.reach(straight.Place(1, 2)) == 12


def shelf(directory: pathlib.Path, fields: str, values: str) -> types.ModuleType:
    """Stubs of a .proto file."""
    directory.mkdir()
    file = directory / f"{directory.name}.proto"
    file.write_text(PROTO.format(fields=fields, values=values))
    return generated(file, directory)


def test_fields_of_a_proto_file_may_be_renamed_and_not_renumbered(tmp_path: pathlib.Path) -> None:
    old = shelf(tmp_path / "old", "int32 x = 1; int32 y = 2; Side at = 3;", "LEFT = 0; UP = 1;")
    new = shelf(tmp_path / "new", "int32 y = 1; int32 z = 2; Side on = 3;", "WEST = 0; UP = 1;")
    other = shelf(tmp_path / "other", "int32 x = 1; int32 y = 5; Side at = 3;", "LEFT = 0; UP = 1;")

    class Mover(new.MoverServer):  # type: ignore[name-defined, misc]
        def reach(self, request: typing.Any) -> typing.Any:
            return new.Place(y=request.y + 10, z=request.z + 20, on=request.on)

    with nearcall.export("renamed", Mover()):
        got = old.MoverClient.import_("renamed").reach(old.Place(x=1, y=2, at=old.Side.UP))
        assert (got.x, got.y, got.at) == (11, 22, old.Side.UP)
        with pytest.raises(nearcall.BindError, match="procedure 0, `Reach`"):
            other.MoverClient.import_("renamed")
