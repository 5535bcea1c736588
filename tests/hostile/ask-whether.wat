;;! does = "Asks again and again whether a timer has rung that never rings."
;;! comes = "Stopped at its deadline, and others have their turn meanwhile."
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Asks instead of waiting.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
  (import "wasi" "ready" (func $ready (param i32) (result i32)))
  (func (export "execute") (param i32) (result i32)
    (local $timer i32)
    (local.set $timer (call $subscribe-duration (i64.const -1)))
    (loop $more (br_if $more (i32.eqz (call $ready (local.get $timer)))))
    (unreachable)))
