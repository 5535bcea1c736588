;;! does = "Logs 40 MiB in one call."
;;! comes = "Stopped before the host copies them."
;;!
;;! [limits]
;;! memory = "256 MiB"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 16 MiB handed to the host in one call (limits.hostcall)"]
;;! grown-mib = 96
;; Logs 40 MiB in one call.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 700)))
    (call $log (i32.const 2) (i32.const 1024) (i32.const 41943040))
    (i32.const 0)))
