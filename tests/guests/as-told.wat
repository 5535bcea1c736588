;; Does what its first input says, a digit: returns it as its code up to 6, traps for 7, waits in the host for a twentieth of a second
;; for 8, and computes for ever for 9.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (import "wasi" "block" (func $block (param i32)))
  (func (export "execute") (param $invocation i32) (result i32)
    (local $told i32)
    (local.set $told
      (i32.sub (i32.load8_u (i32.load offset=8 (i32.load offset=88 (local.get $invocation)))) (i32.const 48)))
    (if (i32.eq (local.get $told) (i32.const 7)) (then (unreachable)))
    (if (i32.eq (local.get $told) (i32.const 8)) (then
      (call $block (call $subscribe (i64.const 50000000)))
      (return (i32.const 0))))
    (loop $for-ever (br_if $for-ever (i32.eq (local.get $told) (i32.const 9))))
    (i32.store (i32.const 0) (local.get $told))
    (i32.const 0)))
