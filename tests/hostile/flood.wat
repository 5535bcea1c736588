;;! does = "Logs without end."
;;! comes = "Stopped at its log limit."
;;! copies = 4
;;! deadline-ms = 9000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["log over its limit of 1 MiB"]
;;! grown-mib = 64
;; Works, then logs without end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "libc" "work" (func $work (param i32)))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (data (i32.const 200) "started")
  (func (export "execute") (param $invocation i32) (result i32)
    (call $log (i32.const 2) (i32.const 200) (i32.const 7))
    (call $work (local.get $invocation))
    (loop $for-ever
      (call $log (i32.const 2) (i32.const 0) (i32.const 200))
      (br $for-ever))
    (unreachable)))
