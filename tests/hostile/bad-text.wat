;;! does = "Returns a message that is not UTF-8."
;;! comes = "Refused where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: invalid utf-8 sequence"]
;; Returns a message that is not UTF-8.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "\ff\fe")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 4) (i32.const 200))
    (i32.store (i32.const 8) (i32.const 2))
    (i32.const 0)))
