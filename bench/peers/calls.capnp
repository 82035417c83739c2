@0xb3c1f0a54d2e9876;
# The calls of the benchmark program, as Cap'n Proto has them.
#
# What is compiled is calls.capnp.request, which is this file as the Cap'n Proto compiler hands it
# to the compiler's Rust part, so that whoever builds this needs no compiler for it. After a change:
#
#     capnp compile -o- calls.capnp > calls.capnp.request

interface Calls {
  null @0 ();
  add @1 (a :Int32, b :Int32) -> (sum :Int32);
  bytesIn @2 (octets :Data);
  bigInOut @3 (octets :Data) -> (octets :Data);
  pfsWrite @4 (handle :Int32, pos :Int32, len :Int32, numbers :List(Int32)) -> (pos :Int32);
}
