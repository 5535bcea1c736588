;;! does = "Returns an outcome at an odd address."
;;! comes = "Refused where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Returns an outcome at an odd address.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.const 1)))
