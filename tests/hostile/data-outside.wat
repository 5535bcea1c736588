;;! does = "Lays data where its memory is not."
;;! comes = "Not instantiated."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: out of bounds memory access"]
;; Has data that begins in its memory and ends outside.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 0xfff0) "more than sixteen bytes")
  (func (export "execute") (param i32) (result i32)
    (unreachable)))
