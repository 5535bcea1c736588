;;! does = "Copies from a data segment that it has dropped."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: out of bounds memory access"]
;; Copies from a data segment that it has dropped.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data $some "1234")
  (func (export "execute") (param i32) (result i32)
    (data.drop $some)
    (memory.init $some (i32.const 0) (i32.const 0) (i32.const 1))
    (i32.const 0)))
