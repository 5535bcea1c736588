;;! does = "Returns an output with an empty name."
;;! comes = "Refused: a name is expected."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["an output has an empty name"]
;; Returns an output without a name.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "1")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 108) (i32.const 200))
    (i32.store (i32.const 112) (i32.const 1))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
