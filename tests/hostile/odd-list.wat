;;! does = "Returns outputs at an odd address."
;;! comes = "Refused where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Returns outputs at an odd address.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 12) (i32.const 1025))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
