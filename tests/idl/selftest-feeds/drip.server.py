"""The server of a self-test of drip, seed 1. To run, with
the same name on both sides: `python -P drip_selftest_server.py NAME`."""

import pathlib
import sys

import nearcall

# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))
from drip_selftest import (
    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,
)

check = Check("server")


class Server0(stubs.DripServer):

    def out_of(self, a_tap):
        place = "drip::Drip::out_of"
        match check.round(0, 7):
            case 0:
                check.same((place, 0, "tap"), shown(a_tap, "text"), "\"?\"")
                return given([stubs.Drop(size=254, colour="\\"), stubs.Drop(size=172, colour="Z"), stubs.Drop(size=12, colour="" * 0)], None)
            case 1:
                check.same((place, 1, "tap"), shown(a_tap, "text"), "\"\"")
                return given([], None)
            case 2:
                check.same((place, 2, "tap"), shown(a_tap, "text"), "\"\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\22%\\e2\\82\\ac a\\f0\\9f\\98\\80{\\2... 338 bytes, hash 6146c800f2968edd")
                return given(repeated([stubs.Drop(size=0, colour="" * 0), stubs.Drop(size=14, colour="Z\U0000000a"), stubs.Drop(size=121, colour="" * 0)], 31), None)
            case 3:
                check.same((place, 3, "tap"), shown(a_tap, "text"), "\"%?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac%?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac%?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\ac... 7592 bytes, hash ab9d48ce18ece797")
                return given(repeated([stubs.Drop(size=111, colour="" * 0), stubs.Drop(size=0, colour="" * 0), stubs.Drop(size=255, colour=" ")], 63), None)
            case 4:
                check.same((place, 4, "tap"), shown(a_tap, "text"), "\"\"")
                return given(repeated([stubs.Drop(size=4, colour="\U0000000a"), stubs.Drop(size=0, colour="" * 0), stubs.Drop(size=156, colour="?")], 32), None)
            case 5:
                check.same((place, 5, "tap"), shown(a_tap, "text"), "\"\\0a\"")
                raise stubs.Dry(left=0)
            case 6:
                check.same((place, 6, "tap"), shown(a_tap, "text"), "\"\\5c%\"")
                return given(repeated([stubs.Drop(size=224, colour="{\\"), stubs.Drop(size=216, colour="Z"), stubs.Drop(size=255, colour="\U0000000a")], 32), stubs.Dry(left=-2147483648))

    def into(self, a_tap):
        place = "drip::Drip::into"
        match check.round(1, 7):
            case 0:
                check.same((place, 0, "tap"), shown(a_tap, "text"), "\"?\"")
                return Collected(lambda items: check.same((place, 0, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 255, colour: \"Z\"}, {size: 46, colour: \"\"}, {size: 0, colour: \"\"}]"), 3723484662, None)
            case 1:
                check.same((place, 1, "tap"), shown(a_tap, "text"), "\"\"")
                return Collected(lambda items: check.same((place, 1, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[]"), 0, None)
            case 2:
                check.same((place, 2, "tap"), shown(a_tap, "text"), "\"\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%\\c3\\a9\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%\\c3\\a9\\22\\0a\\f0\\9f\\98\\80\\e2\\82\\ac%%... 387 bytes, hash d83b04df5051abef")
                return Collected(lambda items: check.same((place, 2, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 0, colour: \"\"}, {size: 0, colour: \"\\0a\"}, {size: 183, colour: \"\\0a\\22\"}, {size: 0, colour: \"... 823 bytes, hash b57c0017388bb628"), 2026696102, None)
            case 3:
                check.same((place, 3, "tap"), shown(a_tap, "text"), "\"\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82\\ac\\c3\\a9%a%\\f0\\9f\\98\\80a\\e2\\82... 7132 bytes, hash b6045f56c2ff152f")
                return Collected(lambda items: check.same((place, 3, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 0, colour: \"{\"}, {size: 255, colour: \"\\22?\"}, {size: 233, colour: \"\"}, {size: 0, colour: \"{\"... 1638 bytes, hash 0d8538ca8e83b664"), 619051670, None)
            case 4:
                check.same((place, 4, "tap"), shown(a_tap, "text"), "\"{\"")
                return Collected(lambda items: check.same((place, 4, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 255, colour: \"\\22\"}, {size: 0, colour: \"\"}, {size: 152, colour: \"?\\5c\"}, {size: 255, colour:... 851 bytes, hash 3dc3f59e399ba183"), 916027678, None)
            case 5:
                check.same((place, 5, "tap"), shown(a_tap, "text"), "\" {\"")
                raise stubs.Dry(left=-2147483648)
            case 6:
                check.same((place, 6, "tap"), shown(a_tap, "text"), "\"{%\"")
                return Collected(lambda items: check.same((place, 6, "items"), shown(items, ("items", ("named", "drip::Drop"))), "[{size: 61, colour: \"a%\"}, {size: 0, colour: \" {\"}, {size: 132, colour: \"\"}, {size: 61, colour: \"a%\"... 811 bytes, hash 2e71c52dde7c18ed"), None, stubs.Dry(left=718462058))


name = sys.argv[-1]
exported = [
    nearcall.export(name + "-0", Server0()),
]
print("ready", flush=True)
rest()
check.wait(14)
for one in exported:
    one.withdraw()
check.end(14)
