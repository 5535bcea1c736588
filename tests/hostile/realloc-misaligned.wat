;;! does = "Offers room at an odd address."
;;! comes = "Refused where it crosses the boundary."
;;! world = "bare"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Offers room at an odd address, also for what is to be aligned.
(core module $guest
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1025))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
