"""grpcio over a Unix socket: ``grpc_client.py HERE THERE``, the processors of the client and of the
server, which is ``grpc_client.py THERE ADDRESS``. What is sent are bytes, so that nothing is marshalled."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys
import tempfile

import grpc

import orders

METHOD = "/calls.Calls/null"


class Handler(grpc.GenericRpcHandler):
    """One procedure, which does nothing."""

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        """The procedure, by its name."""
        null = grpc.unary_unary_rpc_method_handler(lambda request, context: b"")
        return null if details.method == METHOD else None


def serve(address: str) -> None:
    """Serves until standard input ends."""
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(1), [Handler()])
    server.add_insecure_port(address)
    server.start()
    print("ready", flush=True)
    sys.stdin.read()
    server.stop(None)


def call(address: str) -> None:
    """Answers orders."""
    with grpc.insecure_channel(address) as channel:
        null = channel.unary_unary(METHOD)
        if null(b"") != b"":
            sys.exit("a call came back wrong")
        orders.obey(grpc.__version__, {"null": lambda: null(b"")})


def main() -> None:
    """Starts the server, and calls it."""
    with tempfile.TemporaryDirectory() as directory:
        address, pipe = f"unix:{directory}/socket", subprocess.PIPE
        command = [sys.executable, __file__, sys.argv[2], address]
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as server:
            assert server.stdout is not None
            server.stdout.readline()
            call(address)


os.sched_setaffinity(0, [int(sys.argv[1])])
if sys.argv[2].startswith("unix:"):
    serve(sys.argv[2])
else:
    main()
