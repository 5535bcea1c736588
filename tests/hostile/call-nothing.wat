;;! does = "Calls what is not in its table."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Calls what is not in its table.
(core module $guest
  (import "libc" "memory" (memory 1))
  (table 1 funcref)
  (func (export "execute") (param i32) (result i32)
    (call_indirect (i32.const 0))
    (i32.const 0)))
