;;! does = "Makes timers without end."
;;! comes = "Stopped at the limit on host resources."
;;! copies = 8
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: resource table has no free keys (limits.resources)"]
;;! grown-mib = 64
;; Keeps timers without end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (func (export "execute") (param i32) (result i32)
    (loop $for-ever
      (drop (call $subscribe (i64.const 1)))
      (br $for-ever))
    (unreachable)))
