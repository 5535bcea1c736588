;;! does = "Two functions call each other for ever, by a table."
;;! comes = "Stopped at its stack limit."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["stack overflow: limit of 512 KiB reached"]
;; Two functions call each other by a table, so that nobody sees from where.
(core module $guest
  (import "libc" "memory" (memory 1))
  (table funcref (elem $one $other))
  (func $one (param i32) (result i32) (i32.add (i32.const 1) (call_indirect (param i32) (result i32) (local.get 0) (i32.const 1))))
  (func $other (param i32) (result i32) (i32.add (i32.const 1) (call_indirect (param i32) (result i32) (local.get 0) (i32.const 0))))
  (func (export "execute") (param i32) (result i32)
    (call_indirect (param i32) (result i32) (local.get 0) (i32.const 0))))
