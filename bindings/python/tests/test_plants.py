"""Messages of a .proto file that get fields, an enum a value and a oneof a field: each version
calls the other. Fields have moved besides. Who has the new version reads zero, empty or absent
where nothing came; who has the old one leaves out what it does not know, and reads 0 for a value of
an enum, and a oneof that is not set for a field of it."""

from __future__ import annotations

import pathlib
import types
import typing

import pytest

import nearcall
from conftest import ROOT, generated

Versions = dict[str, types.ModuleType]


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    """Both versions, and one that is neither."""

    def version(name: str) -> types.ModuleType:
        interface = ROOT / pathlib.Path("tests/stubs-c/versions") / f"{name}.proto"
        return generated(interface, tmp_path_factory.mktemp(name))

    return {name: version(name) for name in ("planted", "grown", "pruned")}


def leaf(module: types.ModuleType, length: int, colour: str) -> typing.Any:
    made = module.Leaf(length=length)
    if hasattr(made, "colour"):
        made.colour = colour
    return made


def plant(module: types.ModuleType, name: str) -> typing.Any:
    """With something in every field of the version."""
    made = module.Plant(
        name=name,
        kind=getattr(module.Kind, "SHRUB", module.Kind.TREE),
        largest=leaf(module, 5, "red"),
        leaves=[leaf(module, 1, "red"), leaf(module, 2, "blue")],
        labelled={"a": leaf(module, 3, "green")},
        place=module.Place.pot(leaf(module, 7, "brown")),
    )
    if hasattr(made, "kinds"):
        made.kinds = [module.Kind.SHRUB, module.Kind.HERB]
        made.parent = module.Plant(name="parent")
        made.age = 7
        made.served = module.Served.dish("soup")
        made.home = module.Home.forest(leaf(module, 4, "white"))
    else:
        made.home = module.Home.town("York")
    return made


def keeper(module: types.ModuleType) -> typing.Any:
    """A server that tells what it was given, and gives what it has."""

    class Keeper(module.GardenServer):  # type: ignore[name-defined, misc]
        def keep(self, request: typing.Any) -> typing.Any:
            return plant(module, str(request))

        def watch(self, request: typing.Any) -> typing.Iterator[typing.Any]:
            return iter([plant(module, str(request))] * 2)

    return Keeper()


def seen(here: types.ModuleType, there: types.ModuleType, name: str) -> typing.Any:
    """What the plant of one version is to another one."""
    came = plant(here, name)
    if here is there:
        return came
    is_old = not hasattr(came, "kinds")
    kind = here.Kind.TREE if not is_old else here.Kind.KIND_UNSPECIFIED
    made = here.Plant(name=name, kind=kind, place=came.place)
    made.largest, made.leaves, made.labelled = came.largest, came.leaves, came.labelled
    if not is_old:
        leaves = [made.largest, *made.leaves, made.labelled["a"], made.place.pot]
        for one in leaves:
            one.colour = ""
        made.home = here.Home.town("York")
    return made


@pytest.mark.parametrize("there", ["planted", "grown"])
@pytest.mark.parametrize("here", ["planted", "grown"])
def test_versions_of_a_proto_file_call_each_other(
    versions: Versions, here: str, there: str
) -> None:
    own, others = versions[here], versions[there]
    with nearcall.export(f"plants-{here}-{there}", keeper(others)):
        client = own.GardenClient.import_(f"plants-{here}-{there}")
        told = str(seen(others, own, "fern"))
        want = seen(own, others, told)
        assert client.keep(plant(own, "fern")) == want
        assert list(client.watch(plant(own, "fern"))) == [want, want]
        unknown = own.Plant(home=own.Home(99, None))
        allowed = "0, 8 or 15" if here == "grown" else "0 or 8"
        with pytest.raises(nearcall.UsageError, match=f"discriminator is 99, allowed is {allowed}$"):
            client.keep(unknown)


def test_a_field_that_is_gone_is_refused_by_name(versions: Versions) -> None:
    pruned = versions["pruned"]

    class Keeper(pruned.GardenServer):  # type: ignore[name-defined, misc]
        def keep(self, request: typing.Any) -> typing.Any:
            return request

        def watch(self, request: typing.Any) -> typing.Iterator[typing.Any]:
            return iter([request])

    with nearcall.export("pruned", Keeper()):
        for name in ("planted", "grown"):
            with pytest.raises(nearcall.BindError, match="`garden::Leaf`, whose member 1 differs"):
                versions[name].GardenClient.import_("pruned")
