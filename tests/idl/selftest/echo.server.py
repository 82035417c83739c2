"""The server of a self-test of echo, seed 1. To run, with
the same name on both sides: `python -P echo_selftest_server.py NAME`."""

import pathlib
import sys

import nearcall

# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))
from echo_selftest import (
    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,
)

check = Check("server")


class Server0(stubs.EchoServer):

    def twice(self, a_a):
        place = "echo::Echo::twice"
        match check.round(0, 6):
            case 0:
                check.same((place, 0, "a"), shown(a_a, "integer"), "2147483647")
                return -2147483648
            case 1:
                check.same((place, 1, "a"), shown(a_a, "integer"), "1359066553")
                return 0
            case 2:
                check.same((place, 2, "a"), shown(a_a, "integer"), "-1842903691")
                return -2147483648
            case 3:
                check.same((place, 3, "a"), shown(a_a, "integer"), "-2125050015")
                return -878027328
            case 4:
                check.same((place, 4, "a"), shown(a_a, "integer"), "-280209496")
                return 939330403
            case 5:
                check.same((place, 5, "a"), shown(a_a, "integer"), "-1330673170")
                raise stubs.Unknown(who="a")

    def greet(self, a_guest, a_numbers):
        place = "echo::Echo::greet"
        match check.round(1, 5):
            case 0:
                check.same((place, 0, "guest"), shown(a_guest, ("named", "echo::Guest")), "{name: \"\", age: 2147483647}")
                check.same((place, 0, "numbers"), shown(a_numbers, ("items", "integer")), "[32767, 25191]")
                return (stubs.Mood.GLAD, [-1987], bytes([46]))
            case 1:
                check.same((place, 1, "guest"), shown(a_guest, ("named", "echo::Guest")), "{name: \"\", age: none}")
                check.same((place, 1, "numbers"), shown(a_numbers, ("items", "integer")), "[]")
                return (stubs.Mood.SAD, [], bytes([]))
            case 2:
                check.same((place, 2, "guest"), shown(a_guest, ("named", "echo::Guest")), "{name: \"\\22\\c3\\a9\\f0\\9f\\98\\80\\22\", age: 0}")
                check.same((place, 2, "numbers"), shown(a_numbers, ("items", "integer")), "[32767, -29181, 0]")
                return (stubs.Mood.GLAD, [-32768, -32768, -27451], bytes(repeated([188, 0, 129, 0, 21, 255, 0], 150)))
            case 3:
                check.same((place, 3, "guest"), shown(a_guest, ("named", "echo::Guest")), "{name: \"\\22?a%?{\", age: 41519233}")
                check.same((place, 3, "numbers"), shown(a_numbers, ("items", "integer")), "[22369, 12405, -4681]")
                return (stubs.Mood.SAD, [-27801, 18964, 0], bytes(repeated([0, 166, 46, 208, 0, 0, 44], 3000)))
            case 4:
                check.same((place, 4, "guest"), shown(a_guest, ("named", "echo::Guest")), "{name: \"xxxxxxxx\", age: -2147483648}")
                check.same((place, 4, "numbers"), shown(a_numbers, ("items", "integer")), "[27558, 32767, 8526]")
                return (stubs.Mood.SAD, [-32768, -6380, -32768], bytes([0, 233, 184]))


name = sys.argv[-1]
exported = [
    nearcall.export(name + "-0", Server0()),
]
print("ready", flush=True)
rest()
check.wait(11)
for one in exported:
    one.withdraw()
check.end(11)
