;;! does = "Logs a million newlines in one call."
;;! comes = "Stopped at its log limit before a line is passed on."
;;! copies = 4
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["log over its limit of 1 MiB"]
;;! grown-mib = 64
;; Logs a million newlines in one call.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 20)))
    (memory.fill (i32.const 65536) (i32.const 10) (i32.const 1000000))
    (call $log (i32.const 2) (i32.const 65536) (i32.const 1000000))
    (i32.const 0)))
