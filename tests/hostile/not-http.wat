;;! does = "Is answered with something else."
;;! comes = "An error."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*"]
;;!
;;! [server]
;;! says = "SSH-2.0-OpenSSH_9.9\r\n"
;;!
;;! [expect]
;;! codes = [1035, 1038, 1025]
;; Asks who does not speak HTTP. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 1)))
    (i32.const 0)))
