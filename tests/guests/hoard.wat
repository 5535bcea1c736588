;; Fills 32 MiB of memory, says so, then waits in the host for a day.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (import "wasi" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (import "wasi" "block" (func $block (param i32)))
  (data (i32.const 200) "started")
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 511)))
    (memory.fill (i32.const 65536) (i32.const 7) (i32.const 33488896))
    (call $log (i32.const 2) (i32.const 200) (i32.const 7))
    (call $block (call $subscribe (i64.const 86400000000000)))
    (i32.const 0)))
