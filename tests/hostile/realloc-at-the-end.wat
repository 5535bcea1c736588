;;! does = "Offers room that begins within its memory and ends outside."
;;! comes = "Refused where it crosses the boundary."
;;! world = "bare"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Offers room of which eight bytes are there.
(core module $guest
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0xfff8))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
