;;! does = "Gives the same handle back twice."
;;! comes = "Trapped: there is no such handle any more."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: unknown handle index"]
;; Drops a timer, and again.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
  (import "wasi" "drop-pollable" (func $drop-pollable (param i32)))
  (func (export "execute") (param i32) (result i32)
    (local $timer i32)
    (local.set $timer (call $subscribe-duration (i64.const 1)))
    (call $drop-pollable (local.get $timer))
    (call $drop-pollable (local.get $timer))
    (i32.const 0)))
