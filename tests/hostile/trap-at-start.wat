;;! does = "Traps before it can be called."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Traps when it is instantiated.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func $start (unreachable))
  (start $start)
  (func (export "execute") (param i32) (result i32)
    (unreachable)))
