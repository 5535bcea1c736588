;;! does = "Calls itself for ever."
;;! comes = "Stopped at its stack limit."
;;! copies = 8
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["stack overflow: limit of 512 KiB reached"]
;; Calls itself for ever.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func $deeper (param i32) (result i32) (i32.add (i32.const 1) (call $deeper (local.get 0))))
  (func (export "execute") (param i32) (result i32) (call $deeper (local.get 0))))
