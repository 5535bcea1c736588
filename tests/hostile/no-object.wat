;;! does = "Returns a detail that is a text of an object."
;;! comes = "Refused: an object is expected."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["detail is of type string; expected an object"]
;; Returns an object within quotes.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 16384) "\22{}\22")
  (func (export "execute") (param i32) (result i32)
    (i32.store8 (i32.const 20) (i32.const 1))
    (i32.store (i32.const 24) (i32.const 16384))
    (i32.store (i32.const 28) (i32.const 4))
    (i32.const 0)))
