"""The client of a self-test of talk, seed 1. To run, with
the same name on both sides: `python -P talk_selftest_client.py NAME`."""

import pathlib
import sys

import nearcall

# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))
from talk_selftest import (
    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,
)

check = Check("client")


def call_0(client):
    """`talk::Talks::lines`"""
    place = "talk::Talks::lines"

    a_room = "?"
    sent = ["Z\\", "\\a", "a%"]
    items = []
    check.round(0, 7)
    try:
        sink, feed = client.lines(a_room)
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Refused as raised:
        outcome = "raised talk::Refused " + shown(raised, ("named", "talk::Refused"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "items"), shown(items, ("items", ("named", "talk::Line"))), "[{text: \"\", number: 0}, {text: \"\", number: 35258}, {text: \"\\22%\", number: 65535}]")
    check.same((place, 0, "outcome"), outcome, "returned")

    a_room = "" * 0
    sent = []
    items = []
    check.round(0, 7)
    try:
        sink, feed = client.lines(a_room)
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Refused as raised:
        outcome = "raised talk::Refused " + shown(raised, ("named", "talk::Refused"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 1, "items"), shown(items, ("items", ("named", "talk::Line"))), "[]")
    check.same((place, 1, "outcome"), outcome, "returned")

    a_room = "\U0001f600\U000020acZ\U0000000a\U000000e9\U000000e9\"" * 10
    sent = repeated(["\"", "" * 0, "" * 0], 31)
    items = []
    check.round(0, 7)
    try:
        sink, feed = client.lines(a_room)
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Refused as raised:
        outcome = "raised talk::Refused " + shown(raised, ("named", "talk::Refused"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 2, "items"), shown(items, ("items", ("named", "talk::Line"))), "[{text: \"\\0aZ\", number: 34478}, {text: \"%\", number: 15983}, {text: \"\", number: 0}, {text: \"\\0aZ\", nu... 851 bytes, hash 041cf51ea77871e4")
    check.same((place, 2, "outcome"), outcome, "returned")

    a_room = "Z\U0000000a\\\U0000000a\U0001f600\\?" * 300
    sent = repeated(["?\U0000000a", "\\", "\\"], 63)
    items = []
    check.round(0, 7)
    try:
        sink, feed = client.lines(a_room)
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Refused as raised:
        outcome = "raised talk::Refused " + shown(raised, ("named", "talk::Refused"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 3, "items"), shown(items, ("items", ("named", "talk::Line"))), "[{text: \" a\", number: 0}, {text: \"\", number: 20918}, {text: \"\", number: 0}, {text: \" a\", number: 0},... 1575 bytes, hash 4a7a1bc4fe007f3e")
    check.same((place, 3, "outcome"), outcome, "returned")

    a_room = "\U0000000a"
    sent = repeated(["" * 0, "a?", "?Z"], 32)
    items = []
    check.round(0, 7)
    try:
        sink, feed = client.lines(a_room)
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Refused as raised:
        outcome = "raised talk::Refused " + shown(raised, ("named", "talk::Refused"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 4, "items"), shown(items, ("items", ("named", "talk::Line"))), "[{text: \"\", number: 65535}, {text: \"\", number: 0}, {text: \"\", number: 2988}, {text: \"\", number: 6553... 810 bytes, hash f3939f26f3b7b3b5")
    check.same((place, 4, "outcome"), outcome, "returned")

    a_room = "" * 0
    sent = []
    items = []
    check.round(0, 7)
    try:
        sink, feed = client.lines(a_room)
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Refused as raised:
        outcome = "raised talk::Refused " + shown(raised, ("named", "talk::Refused"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 5, "items"), shown(items, ("items", ("named", "talk::Line"))), "[]")
    check.same((place, 5, "outcome"), outcome, "raised talk::Refused {code: -2147483648}")

    a_room = "%\\"
    sent = repeated(["?", " ", "\"Z"], 32)
    items = []
    check.round(0, 7)
    try:
        sink, feed = client.lines(a_room)
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except stubs.Refused as raised:
        outcome = "raised talk::Refused " + shown(raised, ("named", "talk::Refused"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 6, "items"), shown(items, ("items", ("named", "talk::Line"))), "[{text: \"\\0a%\", number: 0}, {text: \"a\", number: 0}, {text: \"a{\", number: 0}, {text: \"\\0a%\", number: ... 811 bytes, hash c2d86aeea49df38c")
    check.same((place, 6, "outcome"), outcome, "raised talk::Refused {code: -2147483648}")


def call_1(client):
    """`talk::Talks::octets`"""
    place = "talk::Talks::octets"

    sent = [True, True, False]
    items = []
    check.round(1, 5)
    try:
        sink, feed = client.octets()
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "items"), shown(items, ("items", "integer")), "[255, 0, 0]")
    check.same((place, 0, "outcome"), outcome, "returned")

    sent = []
    items = []
    check.round(1, 5)
    try:
        sink, feed = client.octets()
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 1, "items"), shown(items, ("items", "integer")), "[]")
    check.same((place, 1, "outcome"), outcome, "returned")

    sent = repeated([True, True, True, True, True, False, False], 1024)
    items = []
    check.round(1, 5)
    try:
        sink, feed = client.octets()
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 2, "items"), shown(items, ("items", "integer")), "[0, 21, 255, 255, 193, 103, 0, 0, 21, 255, 255, 193, 103, 0, 0, 21, 255, 255, 193, 103, 0, 0, 21, 25... 4387 bytes, hash b9dd45e2b84058ea")
    check.same((place, 2, "outcome"), outcome, "returned")

    sent = repeated([False, False, True, True, True, True, False], 2049)
    items = []
    check.round(1, 5)
    try:
        sink, feed = client.octets()
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 3, "items"), shown(items, ("items", "integer")), "[0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 72, 4, 0, 65, 0, 0, 0, 7... 6732 bytes, hash 429bd6ce15987032")
    check.same((place, 3, "outcome"), outcome, "returned")

    sent = repeated([True, False, False, True, True, True, False], 1025)
    items = []
    check.round(1, 5)
    try:
        sink, feed = client.octets()
        for item in sent:
            sink.put(item)
        sink.end()
        for item in feed:
            items.append(item)
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 4, "items"), shown(items, ("items", "integer")), "[219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0, 0, 219, 246, 0, 19, 3, 0... 3809 bytes, hash 12418a1f3cd76b8d")
    check.same((place, 4, "outcome"), outcome, "returned")


name = sys.argv[-1]
client_0 = stubs.TalksClient.import_(name + "-0")
call_0(client_0)
call_1(client_0)
check.end(12)
