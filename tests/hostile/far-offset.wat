;;! does = "Loads from the last address, and as far again."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: out of bounds memory access"]
;; Loads from the last address, and as far again.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (i64.load offset=0xffffffff (i32.const 0xffffffff)))
    (i32.const 0)))
