;;! does = "Computes for ever."
;;! comes = "Stopped at its deadline, and others have their turn meanwhile."
;;! copies = 8
;;! deadline-ms = 1000
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Says that it runs, then computes for ever.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (data (i32.const 200) "started")
  (func (export "execute") (param i32) (result i32)
    (call $log (i32.const 2) (i32.const 200) (i32.const 7))
    (loop $for-ever (br $for-ever))
    (unreachable)))
