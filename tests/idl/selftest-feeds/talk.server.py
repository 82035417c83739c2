"""The server of a self-test of talk, seed 1. To run, with
the same name on both sides: `python -P talk_selftest_server.py NAME`."""

import pathlib
import sys

import nearcall

# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))
from talk_selftest import (
    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,
)

check = Check("server")


class Server0(stubs.TalksServer):

    def lines(self, a_room, inlet, outlet):
        place = "talk::Talks::lines"
        match check.round(0, 7):
            case 0:
                check.same((place, 0, "room"), shown(a_room, "text"), "\"?\"")
                talk(inlet, outlet, lambda sent: check.same((place, 0, "sent"), shown(sent, ("items", "text")), "[\"Z\\5c\", \"\\5ca\", \"a%\"]"), [stubs.Line(text="" * 0, number=0), stubs.Line(text="" * 0, number=35258), stubs.Line(text="\"%", number=65535)], None)
            case 1:
                check.same((place, 1, "room"), shown(a_room, "text"), "\"\"")
                talk(inlet, outlet, lambda sent: check.same((place, 1, "sent"), shown(sent, ("items", "text")), "[]"), [], None)
            case 2:
                check.same((place, 2, "room"), shown(a_room, "text"), "\"\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9\\c3\\a9\\22\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9\\c3\\a9\\22\\f0\\9f\\98\\80\\e2\\82\\... 402 bytes, hash 3a0fe491f54cd709")
                talk(inlet, outlet, lambda sent: check.same((place, 2, "sent"), shown(sent, ("items", "text")), "[\"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\", \"\", \"\", \"\\22\"]"), repeated([stubs.Line(text="\U0000000aZ", number=34478), stubs.Line(text="%", number=15983), stubs.Line(text="" * 0, number=0)], 31), None)
            case 3:
                check.same((place, 3, "room"), shown(a_room, "text"), "\"Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c?Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c?Z\\0a\\5c\\0a\\f0\\9f\\98\\80\\5c?Z\\0a\\5c\\0a\\f0\\9f\\98\\8... 7802 bytes, hash af544bdfede9581d")
                talk(inlet, outlet, lambda sent: check.same((place, 3, "sent"), shown(sent, ("items", "text")), "[\"?\\0a\", \"\\5c\", \"\\5c\", \"?\\0a\", \"\\5c\", \"\\5c\", \"?\\0a\", \"\\5c\", \"\\5c\", \"?\\0a\", \"\\5c\", \"\\5c\", \"?\\0a\", \"\\5... 462 bytes, hash f978f125d2c17e41"), repeated([stubs.Line(text=" a", number=0), stubs.Line(text="" * 0, number=20918), stubs.Line(text="" * 0, number=0)], 63), None)
            case 4:
                check.same((place, 4, "room"), shown(a_room, "text"), "\"\\0a\"")
                talk(inlet, outlet, lambda sent: check.same((place, 4, "sent"), shown(sent, ("items", "text")), "[\"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\", \"?Z\", \"\", \"a?\"]"), repeated([stubs.Line(text="" * 0, number=65535), stubs.Line(text="" * 0, number=0), stubs.Line(text="" * 0, number=2988)], 32), None)
            case 5:
                check.same((place, 5, "room"), shown(a_room, "text"), "\"\"")
                raise stubs.Refused(code=-2147483648)
            case 6:
                check.same((place, 6, "room"), shown(a_room, "text"), "\"%\\5c\"")
                talk(inlet, outlet, lambda sent: check.same((place, 6, "sent"), shown(sent, ("items", "text")), "[\"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \", \"\\22Z\", \"?\", \" \"]"), repeated([stubs.Line(text="\U0000000a%", number=0), stubs.Line(text="a", number=0), stubs.Line(text="a{", number=0)], 32), stubs.Refused(code=-2147483648))

    def octets(self, inlet, outlet):
        place = "talk::Talks::octets"
        match check.round(1, 5):
            case 0:
                talk(inlet, outlet, lambda sent: check.same((place, 0, "sent"), shown(sent, ("items", "boolean")), "[true, true, false]"), [255, 0, 0], None)
            case 1:
                talk(inlet, outlet, lambda sent: check.same((place, 1, "sent"), shown(sent, ("items", "boolean")), "[]"), [], None)
            case 2:
                talk(inlet, outlet, lambda sent: check.same((place, 2, "sent"), shown(sent, ("items", "boolean")), "[true, true, true, true, true, false, false, true, true, true, true, true, false, false, true, true,... 6436 bytes, hash cd6b76f04dbe0779"), repeated([0, 21, 255, 255, 193, 103, 0], 1024), None)
            case 3:
                talk(inlet, outlet, lambda sent: check.same((place, 3, "sent"), shown(sent, ("items", "boolean")), "[false, false, true, true, true, true, false, false, false, true, true, true, true, false, false, fa... 13172 bytes, hash 67b74ba32aa4fab7"), repeated([0, 0, 72, 4, 0, 65, 0], 2049), None)
            case 4:
                talk(inlet, outlet, lambda sent: check.same((place, 4, "sent"), shown(sent, ("items", "boolean")), "[true, false, false, true, true, true, false, true, false, false, true, true, true, false, true, fal... 6590 bytes, hash d174b30314a6c4c5"), repeated([219, 246, 0, 19, 3, 0, 0], 1025), None)


name = sys.argv[-1]
exported = [
    nearcall.export(name + "-0", Server0()),
]
print("ready", flush=True)
rest()
check.wait(12)
for one in exported:
    one.withdraw()
check.end(12)
