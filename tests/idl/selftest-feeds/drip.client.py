"""The client of a self-test of drip, seed 1. To run, with
the same name on both sides: `python -P drip_selftest_client.py NAME`."""

import pathlib
import sys

import nearcall

# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))
from drip_selftest import (
    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,
)

check = Check("client")


def call_0(client):
    """`drip::Drip::out_of`"""
    place = "drip::Drip::out_of"

    a_tap = "?"
    items = []
    check.round(0, 7)
    try:
        feed = client.out_of(a_tap)
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 254, colour: \"\\5c\"}, {size: 172, colour: \"Z\"}, {size: 12, colour: \"\"}]")
    check.same((place, 0, "outcome"), outcome, "returned")

    a_tap = "" * 0
    items = []
    check.round(0, 7)
    try:
        feed = client.out_of(a_tap)
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 1, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[]")
    check.same((place, 1, "outcome"), outcome, "returned")

    a_tap = "\U0001f600{\"%\U000020ac a" * 12
    items = []
    check.round(0, 7)
    try:
        feed = client.out_of(a_tap)
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 2, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 0, colour: \"\"}, {size: 14, colour: \"Z\\0a\"}, {size: 121, colour: \"\"}, {size: 0, colour: \"\"}, ... 783 bytes, hash 6688d97ddc345194")
    check.same((place, 2, "outcome"), outcome, "returned")

    a_tap = "%?\U0000000a\U000000e9{\U0001f600\U000020ac" * 230
    items = []
    check.round(0, 7)
    try:
        feed = client.out_of(a_tap)
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 3, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 111, colour: \"\"}, {size: 0, colour: \"\"}, {size: 255, colour: \" \"}, {size: 111, colour: \"\"}, ... 1554 bytes, hash 19499f2252115175")
    check.same((place, 3, "outcome"), outcome, "returned")

    a_tap = "" * 0
    items = []
    check.round(0, 7)
    try:
        feed = client.out_of(a_tap)
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 4, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 4, colour: \"\\0a\"}, {size: 0, colour: \"\"}, {size: 156, colour: \"?\"}, {size: 4, colour: \"\\0a\"}... 799 bytes, hash 70b7fd74c51b4ed6")
    check.same((place, 4, "outcome"), outcome, "returned")

    a_tap = "\U0000000a"
    items = []
    check.round(0, 7)
    try:
        feed = client.out_of(a_tap)
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 5, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[]")
    check.same((place, 5, "outcome"), outcome, "raised drip::Dry {left: 0}")

    a_tap = "\\%"
    items = []
    check.round(0, 7)
    try:
        feed = client.out_of(a_tap)
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 6, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 224, colour: \"{\\5c\"}, {size: 216, colour: \"Z\"}, {size: 255, colour: \"\\0a\"}, {size: 224, colo... 885 bytes, hash 979784e933d1efd9")
    check.same((place, 6, "outcome"), outcome, "raised drip::Dry {left: -2147483648}")


def call_1(client):
    """`drip::Drip::into`"""
    place = "drip::Drip::into"

    a_tap = "?"
    items = [stubs.Drop(size=255, colour="Z"), stubs.Drop(size=46, colour="" * 0), stubs.Drop(size=0, colour="" * 0)]
    check.round(1, 7)
    try:
        sink = client.into(a_tap)
        for item in items:
            sink.put(item)
        got = sink.end()
        check.same((place, 0, "returned"), shown(got, "integer"), "3723484662")
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "outcome"), outcome, "returned")

    a_tap = "" * 0
    items = []
    check.round(1, 7)
    try:
        sink = client.into(a_tap)
        for item in items:
            sink.put(item)
        got = sink.end()
        check.same((place, 1, "returned"), shown(got, "integer"), "0")
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 1, "outcome"), outcome, "returned")

    a_tap = "\"\U0000000a\U0001f600\U000020ac%%\U000000e9" * 11
    items = repeated([stubs.Drop(size=0, colour="" * 0), stubs.Drop(size=0, colour="\U0000000a"), stubs.Drop(size=183, colour="\U0000000a\"")], 31)
    check.round(1, 7)
    try:
        sink = client.into(a_tap)
        for item in items:
            sink.put(item)
        got = sink.end()
        check.same((place, 2, "returned"), shown(got, "integer"), "2026696102")
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 2, "outcome"), outcome, "returned")

    a_tap = "\U000020ac\U000000e9%a%\U0001f600a" * 230
    items = repeated([stubs.Drop(size=0, colour="{"), stubs.Drop(size=255, colour="\"?"), stubs.Drop(size=233, colour="" * 0)], 63)
    check.round(1, 7)
    try:
        sink = client.into(a_tap)
        for item in items:
            sink.put(item)
        got = sink.end()
        check.same((place, 3, "returned"), shown(got, "integer"), "619051670")
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 3, "outcome"), outcome, "returned")

    a_tap = "{"
    items = repeated([stubs.Drop(size=255, colour="\""), stubs.Drop(size=0, colour="" * 0), stubs.Drop(size=152, colour="?\\")], 32)
    check.round(1, 7)
    try:
        sink = client.into(a_tap)
        for item in items:
            sink.put(item)
        got = sink.end()
        check.same((place, 4, "returned"), shown(got, "integer"), "916027678")
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 4, "outcome"), outcome, "returned")

    a_tap = " {"
    items = []
    check.round(1, 7)
    try:
        sink = client.into(a_tap)
        for item in items:
            sink.put(item)
        got = sink.end()
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 5, "outcome"), outcome, "raised drip::Dry {left: -2147483648}")

    a_tap = "{%"
    items = repeated([stubs.Drop(size=61, colour="a%"), stubs.Drop(size=0, colour=" {"), stubs.Drop(size=132, colour="" * 0)], 32)
    check.round(1, 7)
    try:
        sink = client.into(a_tap)
        for item in items:
            sink.put(item)
        got = sink.end()
        outcome = "returned"
    except stubs.Dry as raised:
        outcome = "raised drip::Dry " + shown(raised, ("named", "drip::Dry"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 6, "outcome"), outcome, "raised drip::Dry {left: 718462058}")


name = sys.argv[-1]
client_0 = stubs.DripClient.import_(name + "-0")
call_0(client_0)
call_1(client_0)
check.end(14)
