;;! does = "Calls itself for ever without a stack."
;;! comes = "Stopped at its deadline."
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Each call of it takes the place of the one before.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func $again (param i32) (result i32) (return_call $again (local.get 0)))
  (func (export "execute") (param i32) (result i32)
    (return_call $again (local.get 0))))
