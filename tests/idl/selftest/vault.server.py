"""The server of a self-test of vault, seed 1. To run, with
the same name on both sides: `python -P vault_selftest_server.py NAME`."""

import pathlib
import sys

import nearcall

# Behind all others, as stubs may be called what a module of Python's own is.
sys.path.append(str(pathlib.Path(__file__).parent))
from vault_selftest import (
    Check, Collected, f4, f8, given, opened, repeated, rest, shown, stubs, talk,
)

check = Check("server")


class Server0(stubs.VaultServer):

    def swap(self, a_link, a_text):
        place = "vault::Vault::swap"
        match check.round(0, 6):
            case 0:
                check.same((place, 0, "link"), shown(a_link, "opened"), "\"?\"")
                check.same((place, 0, "text"), shown(a_text, "text"), "\"%\"")
                return (opened("FILE", " a"), opened("SEGMENT", "Z"))
            case 1:
                check.same((place, 1, "link"), shown(a_link, "opened"), "\"\"")
                check.same((place, 1, "text"), shown(a_text, "text"), "\"\"")
                return (opened("FILE", ""), opened("SEGMENT", ""))
            case 2:
                check.same((place, 2, "link"), shown(a_link, "opened"), "\"\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\\22\\f0\\9f\\98\\80Z\\f0\\9f\\98\\80\\0a\\22Z\"")
                check.same((place, 2, "text"), shown(a_text, "text"), "\" {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9 {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9 {\\f0\\9f\\98\\80\\e2\\82\\acZ\\0a\\c3\\a9... 365 bytes, hash 60d400c90677f5ca")
                return (opened("FILE", "\" \U0000000a\U0000000aZ\U000020aca\" \U0000000a\U0000000aZ\U000020aca\" \U0000000a\U0000000aZ\U000020aca\" \U0000000a\U0000000aZ\U000020aca\" \U0000000a\U0000000aZ\U000020aca\" \U0000000a\U0000000aZ\U000020aca\" \U0000000a\U0000000aZ\U000020aca"), opened("SEGMENT", "%??\"\U000020ac%Z%??\"\U000020ac%Z%??\"\U000020ac%Z%??\"\U000020ac%Z%??\"\U000020ac%Z%??\"\U000020ac%Z%??\"\U000020ac%Z"))
            case 3:
                check.same((place, 3, "link"), shown(a_link, "opened"), "\"?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ?\\0a\\c3\\a9{\\f0\\9f\\98\\80\\e2\\82\\acZ\"")
                check.same((place, 3, "text"), shown(a_text, "text"), "\"\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{  ?\\22\\e2\\82\\aca{... 5663 bytes, hash 8b0b6ba22d18f951")
                return (opened("FILE", "{?\U0001f600%\U000020ac\" {?\U0001f600%\U000020ac\" {?\U0001f600%\U000020ac\" {?\U0001f600%\U000020ac\" {?\U0001f600%\U000020ac\" "), opened("SEGMENT", "\"%%\U0001f600\U000000e9%Z\"%%\U0001f600\U000000e9%Z\"%%\U0001f600\U000000e9%Z\"%%\U0001f600\U000000e9%Z\"%%\U0001f600\U000000e9%Z"))
            case 4:
                check.same((place, 4, "link"), shown(a_link, "opened"), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"")
                check.same((place, 4, "text"), shown(a_text, "text"), "\"\"")
                return (opened("FILE", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), opened("SEGMENT", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))
            case 5:
                check.same((place, 5, "link"), shown(a_link, "opened"), "\"\"")
                check.same((place, 5, "text"), shown(a_text, "text"), "\"\\c3\\a9\"")
                raise stubs.Busy(holder=0)

    def find(self, a_log):
        place = "vault::Vault::find"
        match check.round(1, 5):
            case 0:
                check.same((place, 0, "log"), shown(a_log, "opened"), "\"\"")
                return (opened("FILE", "Z"), None)
            case 1:
                check.same((place, 1, "log"), shown(a_log, "opened"), "none")
                return (None, None)
            case 2:
                check.same((place, 2, "log"), shown(a_log, "opened"), "none")
                return (None, opened("SEGMENT", "?%\U0001f600%\"\\ ?%\U0001f600%\"\\ ?%\U0001f600%\"\\ ?%\U0001f600%\"\\ ?%\U0001f600%\"\\ ?%\U0001f600%\"\\ "))
            case 3:
                check.same((place, 3, "log"), shown(a_log, "opened"), "\" %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80 %a\\0a\\22\\c3\\a9\\f0\\9f\\98\\80\"")
                return (opened("FILE", "\"\U000020ac  \"{\\\"\U000020ac  \"{\\\"\U000020ac  \"{\\\"\U000020ac  \"{\\\"\U000020ac  \"{\\\"\U000020ac  \"{\\\"\U000020ac  \"{\\"), None)
            case 4:
                check.same((place, 4, "log"), shown(a_log, "opened"), "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"")
                return (opened("FILE", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), opened("SEGMENT", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))

    def leave(self, a_given):
        place = "vault::Vault::leave"
        match check.round(2, 1):
            case 0:
                check.same((place, 0, "given"), shown(a_given, "opened"), "\"\\c3\\a9\"")
                return None


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
