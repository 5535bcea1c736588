;;! does = "Waits for one timer a million times at once."
;;! comes = "It ends, and the host makes little room for it."
;;! deadline-ms = 10000
;;!
;;! [expect]
;;! codes = [0, 3, 4]
;;! grown-mib = 256
;; Polls a list of one handle, again and again.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
  (import "wasi" "poll" (func $poll (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (local $timer i32) (local $at i32)
    (drop (memory.grow (i32.const 64)))
    (local.set $timer (call $subscribe-duration (i64.const 1)))
    (local.set $at (i32.const 65536))
    (loop $next
      (i32.store (local.get $at) (local.get $timer))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 4065536))))
    (call $poll (i32.const 65536) (i32.const 1000000) (i32.const 400))
    (i32.const 0)))
