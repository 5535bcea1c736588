;;! does = "Waits for what is there already, again and again."
;;! comes = "Stopped at its deadline, and others have their turn meanwhile."
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Waits for timers of no time.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
  (import "wasi" "block" (func $block (param i32)))
  (import "wasi" "drop-pollable" (func $drop-pollable (param i32)))
  (func (export "execute") (param i32) (result i32)
    (local $timer i32)
    (loop $more
      (local.set $timer (call $subscribe-duration (i64.const 0)))
      (call $block (local.get $timer))
      (call $drop-pollable (local.get $timer))
      (br $more))
    (unreachable)))
