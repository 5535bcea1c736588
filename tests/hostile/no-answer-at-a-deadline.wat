;;! does = "Is not answered, and has no time left."
;;! comes = "Stopped at its deadline, and its connection with it."
;;! world = "http"
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*"]
;;!
;;! [server]
;;! says = ""
;;! then = "hang"
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Waits for an answer. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 1)))
    (i32.const 0)))
