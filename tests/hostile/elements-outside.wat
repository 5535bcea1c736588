;;! does = "Lays functions where its table is not."
;;! comes = "Not instantiated."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Has an element behind the end of its table.
(core module $guest
  (import "libc" "memory" (memory 1))
  (table 1 funcref)
  (elem (i32.const 1) func $function)
  (func $function)
  (func (export "execute") (param i32) (result i32)
    (unreachable)))
