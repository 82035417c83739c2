"""Proves the claims of ``proofs``, or refutes them: ``prove.py PROGRAM [CLAIM...]``.

Each claim is a function of the program, which it says itself. angr executes it as it was compiled,
with bytes of which nothing is known in place of values: where the values decide, both ways are
gone, as long as Z3 finds values that lead there. So what panics on no way panics for no value.
Whatever would leave out a way, or cannot be followed, is said, and proves nothing:

- an address that may be more places than are tried, or none of the claim's own memory;
- a function of the system's, but for those below, and lengths of theirs that are not known;
- a jump that is not known, an instruction without a model, a question that Z3 gives up;
- no way at all on which the claim says something of the values.

What is followed is a model of the processor, so it is held against the processor: values of each
way, and some that chance finds, are given to the program itself, which has to end as the way does,
and each has to lead to one way and no more.

A line of JSON for each claim."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import random
import subprocess
import sys
import time
import typing

import angr
import claripy
from angr.engines.vex.claripy import ccall
from angr.concretization_strategies import SimConcretizationStrategyRange

#: The values, as ``Any`` has them: how many were taken, and the bytes.
ANY, TAKEN_BYTES, VALUE_BYTES = 0x1000_0000, 8, 256

#: What the claims allocate.
HEAP, HEAP_BYTES = 0x2000_0000, 1 << 16

#: Where a claim returns to.
RETURN = 0x3000_0000

#: Places that an address is tried to be at most.
PLACES_MAX = 512

#: Ways that are followed at most, and for how long.
WAYS_MAX, SECONDS_MAX = 20_000, 600.0

#: Values that chance finds for each claim, and ways that are held against the program.
CHANCES, WAYS_PLAYED = 24, 64

#: What the program ends with when it panics.
PANICKED = 101

#: The beginning of every panic, by a part of its symbol's name.
PANICS = ("rust_begin_unwind", "9panic_fmt")


class Unknown(Exception):
    """It cannot be followed."""


def known(state: angr.SimState, value: claripy.ast.Base, what: str) -> int:
    """A value that is the same on this way whatever the values are."""
    if value.symbolic and len(state.solver.eval_upto(value, 2)) != 1:
        raise Unknown(f"{what} depends on the values")
    number: int = state.solver.eval(value)
    return number


def flags_of_product(
    _state: angr.SimState,
    bits: int,
    one: claripy.ast.BV,
    other: claripy.ast.BV,
    _more: claripy.ast.BV,
    platform: str,
) -> claripy.ast.BV:
    """Of an unsigned product. angr takes the upper half of what it has cut off to the lower one
    (9.2.213), so that none would be too large."""
    product = one.zero_extend(bits) * other.zero_extend(bits)
    low, no = product[bits - 1 : 0], claripy.BVV(0, 1)
    is_cut = claripy.If(product[2 * bits - 1 : bits] != 0, claripy.BVV(1, 1), no)
    parity, zero, sign = ccall.calc_paritybit(low), ccall.calc_zerobit(low), low[bits - 1]
    size = ccall.data[platform]["size"]
    return ccall.pc_make_rdata(size, is_cut, parity, no, zero, sign, is_cut, platform=platform)


ccall.pc_actions_UMUL = flags_of_product


class Allocates(angr.SimProcedure):
    """``malloc``: what was freed is not used again."""

    def run(self, length: typing.Any) -> int:
        place: int = self.state.globals["heap"]
        end = place + known(self.state, length, "the length of an allocation")
        if end > HEAP + HEAP_BYTES:
            raise Unknown(f"more than {HEAP_BYTES} bytes are allocated")
        self.state.globals["heap"] = end + 15 & ~15
        return place


class Frees(angr.SimProcedure):
    def run(self, _place: typing.Any) -> None:
        pass


class Copies(angr.SimProcedure):
    """``memcpy`` and ``memmove``."""

    def run(self, to: typing.Any, source: typing.Any, length: typing.Any) -> typing.Any:
        count = known(self.state, length, "the length of a copy")
        if count > 0:
            self.state.memory.store(to, self.state.memory.load(source, count))
        return to


class Fills(angr.SimProcedure):
    """``memset``."""

    def run(self, to: typing.Any, byte: typing.Any, length: typing.Any) -> typing.Any:
        count = known(self.state, length, "the length of what is filled")
        if count > 0:
            self.state.memory.store(to, claripy.Concat(*[byte[7:0]] * count))
        return to


class Compares(angr.SimProcedure):
    """``bcmp``, and ``memcmp`` where only that is asked: whether they are equal."""

    def run(self, one: typing.Any, other: typing.Any, length: typing.Any) -> typing.Any:
        count = known(self.state, length, "the length of a comparison")
        if count == 0:
            return 0
        are_equal = self.state.memory.load(one, count) == self.state.memory.load(other, count)
        return claripy.If(are_equal, claripy.BVV(0, 64), claripy.BVV(1, 64))


class Lacks(angr.SimProcedure):
    """Any other function of the system's."""

    def run(self, name: str = "") -> None:
        raise Unknown(f"it calls {name}")


FUNCTIONS = {
    "malloc": Allocates,
    "free": Frees,
    "memcpy": Copies,
    "memmove": Copies,
    "memset": Fills,
    "bcmp": Compares,
}


def symbol_of(claim: str) -> str:
    """How the name of its symbol begins: Rust's mangling, but for the hash at its end."""
    return "_ZN" + "".join(f"{len(part)}{part}" for part in claim.split("::")) + "17h"


class Program:
    """The program that has the claims."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.project = angr.Project(path, auto_load_libs=False, use_sim_procedures=False)
        self.symbols: dict[str, int] = {
            symbol.name: symbol.rebased_addr
            for symbol in self.project.loader.main_object.symbols
            if symbol.is_function and not symbol.is_import
        }
        self.panics = [
            place for name, place in self.symbols.items() if any(part in name for part in PANICS)
        ]
        if len(self.panics) < len(PANICS):
            raise SystemExit(f"prove.py: {path} has no symbols of {' and '.join(PANICS)}")
        for name in self.project.loader.main_object.imports:
            function = FUNCTIONS.get(name)
            procedure = Lacks(name=name) if function is None else function()
            self.project.hook_symbol(name, procedure, replace=True)
        self.project.hook(RETURN, Lacks(name="what nobody has called"))

    def play(self, claim: str, values: bytes) -> bool | None:
        """Whether the claim says something of these; ``None``: it panics."""
        played = subprocess.run(
            [self.path, claim, shown(values)], capture_output=True, text=True, check=False
        )
        if played.returncode == PANICKED:
            return None
        if played.returncode != 0:
            raise Unknown(f"the program ended with {played.returncode}: {played.stderr}")
        return played.stdout.split()[-1] == "holds"

    def begin(self, claim: str) -> tuple[angr.SimState, claripy.ast.BV]:
        """Before the claim's first instruction, and its values."""
        named = symbol_of(claim)
        place = next((at for name, at in self.symbols.items() if name.startswith(named)), None)
        if place is None:
            raise Unknown(f"no symbol begins with {named}")
        state = self.project.factory.call_state(
            place,
            ANY,
            ret_addr=RETURN,
            add_options={angr.options.STRICT_PAGE_ACCESS},
        )
        for strategies in ("read_strategies", "write_strategies"):
            setattr(state.memory, strategies, [SimConcretizationStrategyRange(PLACES_MAX)])
        values = claripy.BVS("values", VALUE_BYTES * 8)
        for begin, length in ((ANY, TAKEN_BYTES + VALUE_BYTES), (HEAP, HEAP_BYTES)):
            state.memory.map_region(begin, length, 0b011)
        state.memory.store(ANY, claripy.BVV(0, TAKEN_BYTES * 8))
        state.memory.store(ANY + TAKEN_BYTES, values)
        state.globals["heap"] = HEAP
        return state, values


def follow(program: Program, claim: str) -> dict[str, typing.Any]:
    """All ways of a claim: how many there are, on how many it says something, and what is wrong."""
    state, values = program.begin(claim)
    ways = program.project.factory.simulation_manager(state, save_unconstrained=True)
    begun = time.monotonic()
    while ways.active:
        ways.step()
        ways.move("active", "panicked", lambda state: state.addr in program.panics)
        ways.move("active", "returned", lambda state: state.addr == RETURN)
        if ways.errored:
            raise Unknown(str(ways.errored[0].error))
        if ways.unconstrained:
            raise Unknown("it jumps to where the values say")
        if ways.panicked:
            return refuted(program, claim, ways.panicked[0].solver.eval(values, cast_to=bytes))
        if len(ways.returned) + len(ways.active) > WAYS_MAX:
            raise Unknown(f"it has more than {WAYS_MAX} ways")
        if time.monotonic() - begun > SECONDS_MAX:
            raise Unknown(f"it takes longer than {SECONDS_MAX:.0f} s")
    said = [way for way in ways.returned if way.solver.satisfiable([way.regs.al != 0])]
    if not said:
        raise Unknown(f"it says nothing on any of its {len(ways.returned)} ways")
    played = hold_against(program, claim, ways.returned, values)
    return {"ways": len(ways.returned), "said": len(said), "played": played}


def refuted(program: Program, claim: str, found: bytes) -> dict[str, typing.Any]:
    """By values for which the program has to panic, too."""
    outcome = program.play(claim, found)
    if outcome is not None:
        raise Unknown(f"{shown(found)} leads to a panic that the program does not have")
    return {"refuted_by": shown(found)}


def shown(values: bytes) -> str:
    return values.rstrip(b"\0").hex()


def hold_against(
    program: Program, claim: str, ways: list[angr.SimState], values: claripy.ast.BV
) -> int:
    """Has the program play values of the ways, and such as chance finds. How many."""
    of_ways = [way.solver.eval(values, cast_to=bytes) for way in ways[:WAYS_PLAYED]]
    chance = random.Random(12)
    chosen = [*of_ways, *(some_values(chance) for _ in range(CHANCES))]
    for each in chosen:
        these = values == claripy.BVV(each)
        lead = [way for way in ways if way.solver.satisfiable([these])]
        if len(lead) != 1:
            raise Unknown(f"{shown(each)} leads to {len(lead)} ways")
        says = lead[0].solver.eval(lead[0].regs.al, extra_constraints=[these]) & 1 != 0
        if program.play(claim, each) != says:
            raise Unknown(f"{shown(each)} ends otherwise in the program itself")
    return len(chosen)


def some_values(chance: random.Random) -> bytes:
    """Numbers as they come, but many near 0 and near the end, and many that are equal."""
    kinds = (
        lambda: chance.getrandbits(32),
        lambda: chance.randrange(100),
        lambda: 1 << chance.randrange(32),
        lambda: 0xFFFF_FFFF - chance.randrange(100),
        lambda: 0,
        lambda: 0,
    )
    words = (chance.choice(kinds)() for _ in range(VALUE_BYTES // 4))
    return b"".join(word.to_bytes(4, "little") for word in words)


def judge(asked: tuple[str, str]) -> str:
    """What there is to say of a claim."""
    path, claim = asked
    for name in ("angr", "cle", "pyvex", "claripy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    begun = time.monotonic()
    try:
        found = follow(Program(path), claim)
    except Exception as error:
        found = {"unknown": f"{type(error).__name__}: {error}"}
    return json.dumps({"claim": claim, **found, "seconds": round(time.monotonic() - begun, 1)})


def main(path: str, *asked: str) -> None:
    listed = subprocess.run([path], check=True, capture_output=True, text=True).stdout
    claims = [line.split()[0] for line in listed.splitlines()]
    if unknown := [name for name in asked if name not in claims]:
        sys.exit(f"prove.py: {path} has no claim {unknown[0]}")
    chosen = [(path, claim) for claim in asked or claims]
    with multiprocessing.Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        for line in pool.imap_unordered(judge, chosen, chunksize=1):
            print(line, flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: prove.py PROGRAM [CLAIM...]")
    main(*sys.argv[1:])
