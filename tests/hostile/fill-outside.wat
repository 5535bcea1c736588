;;! does = "Fills memory from its last page around to the first."
;;! comes = "An error that names the trap, and nothing is written."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: out of bounds memory access"]
;; Fills memory from its last page around to the first.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (memory.fill (i32.const 0xffff) (i32.const 1) (i32.const -1))
    (i32.const 0)))
