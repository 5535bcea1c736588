;;! does = "Copies from behind the end of its memory."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: out of bounds memory access"]
;; Copies from behind the end of its memory.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (memory.copy (i32.const 0) (i32.const 0xfff0) (i32.const 0x20))
    (i32.const 0)))
