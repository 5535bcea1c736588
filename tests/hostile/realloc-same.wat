;;! does = "Offers the same room again and again."
;;! comes = "What it gets is garbled, and that is its own affair."
;;! world = "bare"
;;!
;;! [expect]
;;! codes = [0]
;; Offers the same room for everything: what comes later lies over what came before.
(core module $guest
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
