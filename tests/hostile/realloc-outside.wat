;;! does = "Offers room that lies outside its memory."
;;! comes = "Refused where it crosses the boundary."
;;! world = "bare"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Offers room behind the end of its memory.
(core module $guest
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0x7fff0000))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
