"""The client of a self-test of echo, seed 1. To run, with
the same name on both sides: `python -P echo_selftest_client.py NAME`."""

import pathlib
import sys

import nearcall

# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))
from echo_selftest import (
    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,
)

check = Check("client")


def call_0(client):
    """`echo::Echo::twice`"""
    place = "echo::Echo::twice"

    a_a = 2147483647
    check.round(0, 6)
    try:
        got = client.twice(a_a)
        check.same((place, 0, "returned"), shown(got, "integer"), "-2147483648")
        outcome = "returned"
    except stubs.Unknown as raised:
        outcome = "raised echo::Unknown " + shown(raised, ("named", "echo::Unknown"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "outcome"), outcome, "returned")

    a_a = 1359066553
    check.round(0, 6)
    try:
        got = client.twice(a_a)
        check.same((place, 1, "returned"), shown(got, "integer"), "0")
        outcome = "returned"
    except stubs.Unknown as raised:
        outcome = "raised echo::Unknown " + shown(raised, ("named", "echo::Unknown"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 1, "outcome"), outcome, "returned")

    a_a = -1842903691
    check.round(0, 6)
    try:
        got = client.twice(a_a)
        check.same((place, 2, "returned"), shown(got, "integer"), "-2147483648")
        outcome = "returned"
    except stubs.Unknown as raised:
        outcome = "raised echo::Unknown " + shown(raised, ("named", "echo::Unknown"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 2, "outcome"), outcome, "returned")

    a_a = -2125050015
    check.round(0, 6)
    try:
        got = client.twice(a_a)
        check.same((place, 3, "returned"), shown(got, "integer"), "-878027328")
        outcome = "returned"
    except stubs.Unknown as raised:
        outcome = "raised echo::Unknown " + shown(raised, ("named", "echo::Unknown"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 3, "outcome"), outcome, "returned")

    a_a = -280209496
    check.round(0, 6)
    try:
        got = client.twice(a_a)
        check.same((place, 4, "returned"), shown(got, "integer"), "939330403")
        outcome = "returned"
    except stubs.Unknown as raised:
        outcome = "raised echo::Unknown " + shown(raised, ("named", "echo::Unknown"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 4, "outcome"), outcome, "returned")

    a_a = -1330673170
    check.round(0, 6)
    try:
        got = client.twice(a_a)
        outcome = "returned"
    except stubs.Unknown as raised:
        outcome = "raised echo::Unknown " + shown(raised, ("named", "echo::Unknown"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 5, "outcome"), outcome, "raised echo::Unknown {who: \"a\"}")


def call_1(client):
    """`echo::Echo::greet`"""
    place = "echo::Echo::greet"

    a_guest = stubs.Guest(name="" * 0, age=2147483647)
    a_numbers = [32767, 25191]
    check.round(1, 5)
    try:
        got = client.greet(a_guest, a_numbers)
        check.same((place, 0, "returned"), shown(got[0], "integer"), "0")
        check.same((place, 0, "numbers"), shown(got[1], ("items", "integer")), "[-1987]")
        check.same((place, 0, "raw"), shown(got[2], ("items", "integer")), "[46]")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "outcome"), outcome, "returned")

    a_guest = stubs.Guest(name="" * 0, age=None)
    a_numbers = []
    check.round(1, 5)
    try:
        got = client.greet(a_guest, a_numbers)
        check.same((place, 1, "returned"), shown(got[0], "integer"), "1")
        check.same((place, 1, "numbers"), shown(got[1], ("items", "integer")), "[]")
        check.same((place, 1, "raw"), shown(got[2], ("items", "integer")), "[]")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 1, "outcome"), outcome, "returned")

    a_guest = stubs.Guest(name="\"\U000000e9\U0001f600\"", age=0)
    a_numbers = [32767, -29181, 0]
    check.round(1, 5)
    try:
        got = client.greet(a_guest, a_numbers)
        check.same((place, 2, "returned"), shown(got[0], "integer"), "0")
        check.same((place, 2, "numbers"), shown(got[1], ("items", "integer")), "[-32768, -32768, -27451]")
        check.same((place, 2, "raw"), shown(got[2], ("items", "integer")), "[188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0, 21, 255, 0, 188, 0, 129, 0,... 601 bytes, hash 9cf1af5686a0c974")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 2, "outcome"), outcome, "returned")

    a_guest = stubs.Guest(name="\"?a%?{", age=41519233)
    a_numbers = [22369, 12405, -4681]
    check.round(1, 5)
    try:
        got = client.greet(a_guest, a_numbers)
        check.same((place, 3, "returned"), shown(got[0], "integer"), "1")
        check.same((place, 3, "numbers"), shown(got[1], ("items", "integer")), "[-27801, 18964, 0]")
        check.same((place, 3, "raw"), shown(got[2], ("items", "integer")), "[0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0, 0, 44, 0, 166, 46, 208, 0... 11573 bytes, hash 967d0858fa0c7a4e")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 3, "outcome"), outcome, "returned")

    a_guest = stubs.Guest(name="x" * 8, age=-2147483648)
    a_numbers = [27558, 32767, 8526]
    check.round(1, 5)
    try:
        got = client.greet(a_guest, a_numbers)
        check.same((place, 4, "returned"), shown(got[0], "integer"), "1")
        check.same((place, 4, "numbers"), shown(got[1], ("items", "integer")), "[-32768, -6380, -32768]")
        check.same((place, 4, "raw"), shown(got[2], ("items", "integer")), "[0, 233, 184]")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 4, "outcome"), outcome, "returned")


name = sys.argv[-1]
client_0 = stubs.EchoClient.import_(name + "-0")
call_0(client_0)
call_1(client_0)
check.end(11)
