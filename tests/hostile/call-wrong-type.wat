;;! does = "Calls a function by a table as if it took other arguments."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: indirect call type mismatch"]
;; Calls a function by a table as if it took other arguments.
(core module $guest
  (import "libc" "memory" (memory 1))
  (table funcref (elem $nothing))
  (func $nothing)
  (func (export "execute") (param i32) (result i32)
    (drop (call_indirect (param i64) (result i64) (i64.const 1) (i32.const 0)))
    (i32.const 0)))
