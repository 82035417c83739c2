"""What need not be said of a class: each field of proto3, and what IDL says is optional, or has a
default."""

from __future__ import annotations

import inspect
import pathlib
import types
import typing

import numpy
import pytest

import nearcall
from conftest import generated

IDL = """
enum Hue { RED, GREEN };
@default("none") typedef string Name;
struct First { @optional string note; long key; @default(GREEN) Hue hue; };
struct Base { long key; @optional string note; };
struct Longer : Base { long more; @default(-3) long least; Name name; };
exception Why { @default("no\\n") string why; long code; };
interface Echo { First first(in First given); Longer longer(in Longer given) raises (Why); };
"""

PROTO = """
syntax = "proto3";
enum Hue { NONE = 0; RED = 1; }
message Inner { string name = 1; }
message Twenty {
  bool a = 1; int32 b = 2; uint64 c = 3; float d = 4; double e = 5; string f = 6; bytes g = 7;
  Hue h = 8; Inner i = 9; optional string j = 10; repeated string k = 11; repeated int32 l = 12;
  map<string, Inner> m = 13; oneof n { string o = 14; Inner p = 15; } repeated Hue q = 16;
  repeated bytes r = 17;
}
service Echo { rpc Echo(Twenty) returns (Twenty); }
"""


def compiled(directory: pathlib.Path, name: str, text: str) -> types.ModuleType:
    path = directory / name
    path.write_text(text)
    return generated(path, directory)


def test_a_oneof_is_set_and_asked_by_the_names_of_its_fields(tmp_path: pathlib.Path) -> None:
    made = compiled(tmp_path, "oneof.proto", PROTO)
    assert made.N.o("here") == made.N(14, "here")
    inner = made.Inner("name")
    assert made.Twenty(n=made.N.p(inner)).n.p is inner
    assert not hasattr(made.N.p(inner), "o")
    unset = made.Twenty().n
    assert (hasattr(unset, "o"), hasattr(unset, "p")) == (False, False)


def test_each_field_of_proto3_has_a_default(tmp_path: pathlib.Path) -> None:
    made = compiled(tmp_path, "twenty.proto", PROTO)
    empty = made.Twenty()
    scalars = [empty.a, empty.b, empty.c, empty.d, empty.e, empty.f, empty.g, empty.h]
    assert scalars == [False, 0, 0, 0.0, 0.0, "", b"", made.Hue.NONE]
    assert [type(one) for one in scalars] == [bool, int, int, float, float, str, bytes, made.Hue]
    assert (empty.i, empty.j, empty.k, empty.m, empty.q, empty.r) == (None, None, [], {}, [], [])
    assert empty.l.dtype == numpy.int32 and empty.l.shape == (0,)
    assert empty.n == made.N(0, None)
    assert made.Twenty(f="name", i=made.Inner()) != empty


def test_no_two_objects_share_what_can_be_changed(tmp_path: pathlib.Path) -> None:
    made = compiled(tmp_path, "twenty.proto", PROTO)
    one, other = made.Twenty(), made.Twenty()
    one.k.append("a")
    one.m["a"] = made.Inner("b")
    one.n.discriminator = 14
    assert other == made.Twenty() and other != one


def test_a_default_of_idl_stands_behind_or_has_to_be_named(tmp_path: pathlib.Path) -> None:
    made = compiled(tmp_path, "echo.idl", IDL)
    first = made.First(1)
    assert (first.note, first.key, first.hue) == (None, 1, made.Hue.GREEN)
    assert made.First(1, made.Hue.RED, note="a").note == "a"
    assert made.Base(1).note is None and made.Base(1, "a").note == "a"
    longer = made.Longer(1, more=2)
    said = (longer.key, longer.note, longer.more, longer.least, longer.name)
    assert said == (1, None, 2, -3, "none")
    why = made.Why(7)
    assert (why.why, why.code) == ("no\n", 7)
    for missing in (made.First, made.Base, lambda: made.Longer(1), made.Why):
        with pytest.raises(TypeError, match="missing"):
            missing()
    assert list(inspect.signature(made.Base).parameters) == ["key", "note"]


def test_what_is_passed_by_name_arrives_as_it_was_sent(tmp_path: pathlib.Path) -> None:
    made = compiled(tmp_path, "echo.idl", IDL)

    class Echo(made.EchoServer):  # type: ignore[name-defined, misc]
        def first(self, given: typing.Any) -> typing.Any:
            return given

        def longer(self, given: typing.Any) -> typing.Any:
            if given.more == 0:
                raise made.Why(7, why="none")
            return given

    with nearcall.export("defaults", Echo()):
        client = made.EchoClient.import_("defaults")
        for first in (made.First(1), made.First(2, made.Hue.RED, note="a")):
            assert client.first(first) == first
        longer = made.Longer(1, "a", 4, "b", more=2)
        assert client.longer(longer) == longer
        with pytest.raises(made.Why) as raised:
            client.longer(made.Longer(1, more=0))
    assert (raised.value.why, raised.value.code) == ("none", 7)
