;;! does = "Returns a detail that is neither there nor not."
;;! comes = "Refused where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Returns 2 where 0 says that there is no detail, and 1 that there is one.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.store8 (i32.const 20) (i32.const 2))
    (i32.const 0)))
