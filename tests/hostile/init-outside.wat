;;! does = "Copies more of a data segment than there is."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: out of bounds memory access"]
;; Copies more of a data segment than there is.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data $some "1234")
  (func (export "execute") (param i32) (result i32)
    (memory.init $some (i32.const 0) (i32.const 2) (i32.const 3))
    (i32.const 0)))
