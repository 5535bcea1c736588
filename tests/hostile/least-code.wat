;;! does = "Returns the least number there is as its code."
;;! comes = "Counts as an error, and is kept."
;;!
;;! [expect]
;;! codes = [-2147483648]
;; Returns a code far below all that mean something.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (i32.const 0x80000000))
    (i32.const 0)))
