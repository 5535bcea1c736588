;;! does = "Divides the least number by minus one."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: integer overflow"]
;; Divides the least number by minus one.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (i64.div_s (i64.const 0x8000000000000000) (i64.const -1)))
    (i32.const 0)))
