;;! does = "Returns a detail that is a list."
;;! comes = "Refused: an object is expected."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["detail is of type array; expected an object"]
;; Returns a detail that is JSON, but not an object.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "[1]")
  (func (export "execute") (param i32) (result i32)
    (i32.store8 (i32.const 20) (i32.const 1))
    (i32.store (i32.const 24) (i32.const 200))
    (i32.store (i32.const 28) (i32.const 3))
    (i32.const 0)))
