;;! does = "Returns a list that begins at the end of all addresses and ends at their beginning."
;;! comes = "Refused where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Returns outputs whose address and length together are zero again.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 12) (i32.const 0xfffffff0))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
