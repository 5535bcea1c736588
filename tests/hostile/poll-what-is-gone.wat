;;! does = "Waits for a timer that it gave back."
;;! comes = "Trapped: there is no such handle any more."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: unknown handle index"]
;; Polls a handle that is gone.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
  (import "wasi" "poll" (func $poll (param i32 i32 i32)))
  (import "wasi" "drop-pollable" (func $drop-pollable (param i32)))
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 400) (call $subscribe-duration (i64.const 1)))
    (call $drop-pollable (i32.load (i32.const 400)))
    (call $poll (i32.const 400) (i32.const 1) (i32.const 408))
    (i32.const 0)))
