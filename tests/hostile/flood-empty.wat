;;! does = "Logs the empty text without end."
;;! comes = "Stopped at its log limit: a line costs a byte even if it is empty."
;;! copies = 4
;;! deadline-ms = 9000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["log over its limit of 1 MiB"]
;;! grown-mib = 64
;; Logs the empty text without end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (loop $for-ever
      (call $log (i32.const 2) (i32.const 0) (i32.const 0))
      (br $for-ever))
    (unreachable)))
