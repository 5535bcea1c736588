;;! does = "Never answers when it is asked for room."
;;! comes = "Stopped at its deadline."
;;! world = "bare"
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Computes for ever when it is asked for room.
(core module $guest
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (loop $for-ever (br $for-ever)) (unreachable))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
