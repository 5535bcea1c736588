;;! does = "Traps when it is asked for room."
;;! comes = "An error that names the trap."
;;! world = "bare"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Has no room for what it is called with.
(core module $guest
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (unreachable))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
