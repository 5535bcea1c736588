;; Waits in the host for a twentieth of a second, then succeeds.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (import "wasi" "block" (func $block (param i32)))
  (func (export "execute") (param i32) (result i32)
    (call $block (call $subscribe (i64.const 50000000)))
    (i32.const 0)))
