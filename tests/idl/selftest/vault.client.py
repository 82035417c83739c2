"""The client of a self-test of vault, seed 1. To run, with
the same name on both sides: `python -P vault_selftest_client.py NAME`."""

import pathlib
import sys

import nearcall

# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))
from vault_selftest import (
    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,
)

check = Check("client")


def call_0(client):
    """`vault::Vault::swap`"""
    place = "vault::Vault::swap"

    a_link = opened("SOCKET", "?")
    a_text = "%"
    check.round(0, 6)
    try:
        got = client.swap(a_link, a_text)
        check.same((place, 0, "returned"), shown(got[0], "opened"), "\" a\"")
        check.same((place, 0, "kept"), shown(got[1], "opened"), "\"Z\"")
        outcome = "returned"
    except stubs.Busy as raised:
        outcome = "raised vault::Busy " + shown(raised, ("named", "vault::Busy"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "outcome"), outcome, "returned")

    a_link = opened("SOCKET", "")
    a_text = "" * 0
    check.round(0, 6)
    try:
        got = client.swap(a_link, a_text)
        check.same((place, 1, "returned"), shown(got[0], "opened"), "\"\"")
        check.same((place, 1, "kept"), shown(got[1], "opened"), "\"\"")
        outcome = "returned"
    except stubs.Busy as raised:
        outcome = "raised vault::Busy " + shown(raised, ("named", "vault::Busy"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 1, "outcome"), outcome, "returned")

    a_link = opened("SOCKET", "\"\U0001f600Z\U0001f600\U0000000a\"Z\"\U0001f600Z\U0001f600\U0000000a\"Z\"\U0001f600Z\U0001f600\U0000000a\"Z\"\U0001f600Z\U0001f600\U0000000a\"Z")
    a_text = " {\U0001f600\U000020acZ\U0000000a\U000000e9" * 11
    check.round(0, 6)
    try:
        got = client.swap(a_link, a_text)
        check.same((place, 2, "returned"), shown(got[0], "opened"), "\"\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\\22 \\0a\\0aZ\\e2\\82\\aca\"")
        check.same((place, 2, "kept"), shown(got[1], "opened"), "\"%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z%??\\22\\e2\\82\\ac%Z\"")
        outcome = "returned"
    except stubs.Busy as raised:
        outcome = "raised vault::Busy " + shown(raised, ("named", "vault::Busy"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 2, "outcome"), outcome, "returned")

    a_link = opened("SOCKET", "?\U0000000a\U000000e9{\U0001f600\U000020acZ?\U0000000a\U000000e9{\U0001f600\U000020acZ?\U0000000a\U000000e9{\U0001f600\U000020acZ?\U0000000a\U000000e9{\U0001f600\U000020acZ")
    a_text = "\"\U000020aca{  ?" * 333
    check.round(0, 6)
    try:
        got = client.swap(a_link, a_text)
        check.same((place, 3, "returned"), shown(got[0], "opened"), "\"{?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 {?\\f0\\9f\\98\\80%\\e2\\82\\ac\\22 \"")
        check.same((place, 3, "kept"), shown(got[1], "opened"), "\"\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\\22%%\\f0\\9f\\98\\80\\c3\\a9%Z\"")
        outcome = "returned"
    except stubs.Busy as raised:
        outcome = "raised vault::Busy " + shown(raised, ("named", "vault::Busy"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 3, "outcome"), outcome, "returned")

    a_link = opened("SOCKET", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
    a_text = "" * 0
    check.round(0, 6)
    try:
        got = client.swap(a_link, a_text)
        check.same((place, 4, "returned"), shown(got[0], "opened"), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"")
        check.same((place, 4, "kept"), shown(got[1], "opened"), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"")
        outcome = "returned"
    except stubs.Busy as raised:
        outcome = "raised vault::Busy " + shown(raised, ("named", "vault::Busy"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 4, "outcome"), outcome, "returned")

    a_link = opened("SOCKET", "")
    a_text = "\U000000e9"
    check.round(0, 6)
    try:
        got = client.swap(a_link, a_text)
        outcome = "returned"
    except stubs.Busy as raised:
        outcome = "raised vault::Busy " + shown(raised, ("named", "vault::Busy"))
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 5, "outcome"), outcome, "raised vault::Busy {holder: 0}")


def call_1(client):
    """`vault::Vault::find`"""
    place = "vault::Vault::find"

    a_log = opened("ANY", "")
    check.round(1, 5)
    try:
        got = client.find(a_log)
        check.same((place, 0, "returned"), shown(got[0], "opened"), "\"Z\"")
        check.same((place, 0, "kept"), shown(got[1], "opened"), "none")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "outcome"), outcome, "returned")

    a_log = None
    check.round(1, 5)
    try:
        got = client.find(a_log)
        check.same((place, 1, "returned"), shown(got[0], "opened"), "none")
        check.same((place, 1, "kept"), shown(got[1], "opened"), "none")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 1, "outcome"), outcome, "returned")

    a_log = None
    check.round(1, 5)
    try:
        got = client.find(a_log)
        check.same((place, 2, "returned"), shown(got[0], "opened"), "none")
        check.same((place, 2, "kept"), shown(got[1], "opened"), "\"?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c ?%\\f0\\9f\\98\\80%\\22\\5c \"")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 2, "outcome"), outcome, "returned")

    a_log = opened("ANY", " %a\U0000000a\"\U000000e9\U0001f600 %a\U0000000a\"\U000000e9\U0001f600 %a\U0000000a\"\U000000e9\U0001f600 %a\U0000000a\"\U000000e9\U0001f600 %a\U0000000a\"\U000000e9\U0001f600")
    check.round(1, 5)
    try:
        got = client.find(a_log)
        check.same((place, 3, "returned"), shown(got[0], "opened"), "\"\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\\22\\e2\\82\\ac  \\22{\\5c\"")
        check.same((place, 3, "kept"), shown(got[1], "opened"), "none")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 3, "outcome"), outcome, "returned")

    a_log = opened("ANY", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
    check.round(1, 5)
    try:
        got = client.find(a_log)
        check.same((place, 4, "returned"), shown(got[0], "opened"), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"")
        check.same((place, 4, "kept"), shown(got[1], "opened"), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"")
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 4, "outcome"), outcome, "returned")


def call_2(client):
    """`vault::Vault::leave`"""
    place = "vault::Vault::leave"

    a_given = opened("ANY", "\U000000e9")
    check.round(2, 1)
    try:
        got = client.leave(a_given)
        outcome = "returned"
    except nearcall.Error as error:
        outcome = str(error)
    check.same((place, 0, "outcome"), outcome, "returned")


name = sys.argv[-1]
client_0 = stubs.VaultClient.import_(name + "-0")
call_0(client_0)
call_1(client_0)
call_2(client_0)
check.end(12)
