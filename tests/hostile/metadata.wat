;;! does = "Asks the machine that it runs on who it is."
;;! comes = "Refused: an inner address has to be granted by name."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://*:*"]
;;!
;;! [expect]
;;! codes = [1004, 1015]
;;! message = ["link-local"]
;; Asks the address where clouds tell secrets. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "169.254.169.254")
  (data (i32.const 1000) "/latest/meta-data/")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 18)))
    (i32.const 0)))
