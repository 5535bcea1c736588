;;! does = "Tells its progress without end, and without a word."
;;! comes = "Stopped at its deadline; watchers are notified a few times a second."
;;! copies = 4
;;! deadline-ms = 500
;;!
;;! [expect]
;;! codes = [4]
;;! grown-mib = 64
;; Tells its progress without end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "progress" (func $progress (param i32 f64 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (loop $for-ever
      (call $progress (i32.const 1) (f64.const 0.5) (i32.const 0) (i32.const 0))
      (br $for-ever))
    (unreachable)))
