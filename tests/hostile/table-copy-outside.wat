;;! does = "Copies from one table to another beyond its end."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Copies from one table to another beyond its end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (table $one 4 funcref)
  (table $other 4 funcref)
  (func (export "execute") (param i32) (result i32)
    (table.copy $one $other (i32.const 3) (i32.const 0) (i32.const 2))
    (i32.const 0)))
