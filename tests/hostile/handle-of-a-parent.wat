;;! does = "Gives a stream back while it still waits for it."
;;! comes = "Trapped, or the wait is over: nothing is used that is gone."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Drops a stream, then waits for what stands for it.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stdin" (func $get-stdin (result i32)))
  (import "wasi" "subscribe-input" (func $subscribe-input (param i32) (result i32)))
  (import "wasi" "drop-input" (func $drop-input (param i32)))
  (import "wasi" "block" (func $block (param i32)))
  (func (export "execute") (param i32) (result i32)
    (local $stream i32) (local $waits i32)
    (local.set $stream (call $get-stdin))
    (local.set $waits (call $subscribe-input (local.get $stream)))
    (call $drop-input (local.get $stream))
    (call $block (local.get $waits))
    (i32.const 0)))
