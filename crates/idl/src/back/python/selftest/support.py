#: A longer text is compared by its beginning, its length and its hash.
SHOWN_BYTES_MAX = 300
#: How much of a longer text there is to see.
BEGINNING_BYTES = 100
#: No text in an open file is longer.
OPENED_BYTES_MAX = 64
#: What a segment has: whole pages, whatever the machine's are.
SEGMENT_BYTES = 65536
#: What a segment is sealed with: no other size, no writer but its creator (the kernel's
#: F_SEAL_FUTURE_WRITE, which has no name in all versions), no more seals.
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 16 | fcntl.F_SEAL_SEAL
#: How many seconds the server waits for calls that were posted and not awaited.
PATIENCE = 10.0


def repeated(part, count):
    """The items of ``part`` over and over, until there are ``count``."""
    return list(itertools.islice(itertools.cycle(part), count))


def f4(bits):
    """A float of these bits."""
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def f8(bits):
    """A double of these bits."""
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def opened(kind, text):
    """An open file with a text in it, which whoever gets it reads once; a pipe where any will do."""
    match kind:
        case "FILE" | "SEGMENT":
            file = os.memfd_create("selftest", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.pwrite(file, text.encode(), 0)
            if kind == "SEGMENT":
                os.posix_fallocate(file, 0, SEGMENT_BYTES)
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, SEALS)
            return open(file, "rb")
        case "SOCKET" | "BINDING":
            # A socket for packets passes for an introduction until somebody imports from it.
            way = socket.SOCK_SEQPACKET if kind == "BINDING" else socket.SOCK_STREAM
            own, other = socket.socketpair(socket.AF_UNIX, way)
            with other:
                other.sendall(text.encode())
            return own
    own, other = os.pipe()
    with open(other, "wb") as end:
        end.write(text.encode())
    return open(own, "rb")


def read(file):
    """The text in an open file, up to its end or a NUL."""
    with open(os.dup(file.fileno()), "rb") as own:
        return own.read(OPENED_BYTES_MAX).partition(b"\0")[0].decode(errors="replace")


def shown(value, shape):
    """A value as text, the same in every language. A shape says what it is a value of."""
    match shape:
        case ("named", name):
            return shown(value, SHAPES[name])
        case ("optional", inner):
            return "none" if value is None else shown(value, inner)
        case ("items", inner):
            return "[" + ", ".join(shown(one, inner) for one in value) + "]"
        case ("map", key, inner):
            pairs = (f"{shown(one, key)}: {shown(item, inner)}" for one, item in value.items())
            # Maps have other orders in other languages.
            return "{" + ", ".join(sorted(pairs)) + "}"
        case ("fields", *fields):
            each = (f"{name}: {shown(getattr(value, own), one)}" for name, own, one in fields)
            return "{" + ", ".join(each) + "}"
        case ("union", discriminator, cases, default):
            text = shown(value.discriminator, discriminator)
            number = value.discriminator
            label = ord(number) if isinstance(number, str) else int(number)
            case = cases.get(label, default)
            return f"({text})" if case is None else f"({text}: {shown(value.value, case)})"
        case ("bitset", *fields):
            return str(sum((int(getattr(value, own)) & mask) << at for own, at, mask in fields))
    return SCALARS[shape](value)


SCALARS = {
    "boolean": lambda value: "true" if value else "false",
    "integer": lambda value: str(int(value)),
    "letter": lambda value: str(ord(value)),
    "f4": lambda value: f"0x{struct.unpack('<I', struct.pack('<f', value))[0]:08x}",
    "f8": lambda value: f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}",
    "extended": lambda value: "0x" + bytes(value).hex(),
    "opened": lambda value: "none" if value is None else shown(read(value), "text"),
    "text": lambda value: '"' + "".join(map(quoted, value.encode())) + '"',
}


def quoted(byte):
    """A byte of a text."""
    return chr(byte) if 32 <= byte <= 126 and byte not in b'"\\' else f"\\{byte:02x}"


def shortened(text):
    """What a text is compared by."""
    if len(text) <= SHOWN_BYTES_MAX:
        return text
    code = 0xCBF29CE484222325
    for byte in text.encode():
        code = (code ^ byte) * 0x100000001B3 % 2**64
    return f"{text[:BEGINNING_BYTES]}... {len(text)} bytes, hash {code:016x}"


def given(items, raised):
    """The items of a feed, and what is raised behind them, if anything is."""
    yield from items
    if raised is not None:
        raise raised


class Collected(nearcall.Taker):
    """Keeps all items of a feed, and looks at them at its end."""

    def __init__(self, look, made, raised):
        self.items, self.look, self.made, self.raised = [], look, made, raised

    def take(self, item):
        self.items.append(item)

    def end(self):
        self.look(self.items)
        if self.raised is not None:
            raise self.raised
        return self.made


def talk(inlet, outlet, look, items, raised):
    """Takes all items of an exchange and looks at them, and then gives its own, on a thread."""

    def work():
        try:
            with inlet, outlet:
                look(list(inlet))
                for item in items:
                    outlet.put(item)
                if raised is not None:
                    outlet.raise_(raised)
        except nearcall.GivenUp:
            # The client has said what differs.
            pass

    threading.Thread(target=work, daemon=True).start()


def rest():
    """Waits until whoever started it closes its standard input."""
    sys.stdin.read()


class Check:
    """What was called, and what differed."""

    def __init__(self, side):
        self.side = side
        self.lock = threading.Lock()
        self.calls = collections.Counter()
        self.values = 0
        self.differences = 0

    def round(self, operation, rounds):
        """Counts a call of an operation; which of its rounds it is."""
        with self.lock:
            self.calls[operation] += 1
            return (self.calls[operation] - 1) % rounds

    def same(self, at, got, wanted):
        """Compares a text with what it should be."""
        got = shortened(got)
        with self.lock:
            self.values += 1
            self.differences += got != wanted
        if got != wanted:
            place, number, what = at
            print(
                f"{self.side} of {place}, round {number}: {what} is\n  {got}\n"
                f"and should be\n  {wanted}",
                file=sys.stderr,
            )

    def wait(self, wanted):
        """Waits until so many calls were taken, or for so long that they will not be."""
        end = time.monotonic() + PATIENCE
        while self.calls.total() < wanted and time.monotonic() < end:
            time.sleep(0.001)

    def end(self, wanted):
        """Says what was counted, and ends the program: well only if there were as many calls as
        there should be, and no difference. A client stays until its standard input ends: a call
        that is not awaited goes with its client."""
        calls = self.calls.total()
        counts = f"{calls} of {wanted} calls, {self.values} values, {self.differences} differ"
        print(f"{self.side}: {counts}", flush=True)
        rest()
        sys.exit(0 if calls == wanted > 0 and self.differences == 0 else 1)
