;;! does = "Calls itself for ever when it is asked for room."
;;! comes = "Stopped at its stack limit."
;;! world = "bare"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["stack overflow: limit of 512 KiB reached"]
;; Asks itself for room, which asks itself for room.
(core module $guest
  (memory (export "memory") 1)
  (func $deeper (export "realloc") (param i32 i32 i32 i32) (result i32)
    (i32.add (i32.const 1) (call $deeper (local.get 0) (local.get 1) (local.get 2) (local.get 3))))

  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
