;;! does = "Computes for ever before it can even be called."
;;! comes = "Stopped at its deadline."
;;! copies = 8
;;! deadline-ms = 1000
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Computes for ever before it can even be called.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func $start (loop $for-ever (br $for-ever)))
  (start $start)
  (func (export "execute") (param i32) (result i32) (unreachable)))
