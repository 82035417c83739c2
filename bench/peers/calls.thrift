// The calls of the benchmark program, as Thrift has them.
//
// What is compiled is calls.thrift.stubs, which is what the Thrift compiler makes of this file, so
// that whoever builds this needs no compiler for it. After a change:
//
//     thrift --gen rs calls.thrift && mv calls.rs calls.thrift.stubs

service Calls {
  void null()
  i32 add(1: i32 a, 2: i32 b)
  void bytes_in(1: binary octets)
  binary big_in_out(1: binary octets)
}
