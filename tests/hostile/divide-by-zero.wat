;;! does = "Divides by zero."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: integer divide by zero"]
;; Divides by zero.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (i32.div_s (i32.const 1) (i32.const 0)))
    (i32.const 0)))
