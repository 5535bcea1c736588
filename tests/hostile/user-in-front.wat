;;! does = "Hides whom it asks behind the name of a user."
;;! comes = "Refused: a user is not part of whom one asks."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://api.example.com"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [1015, 2000]
;;! asked = 0
;; Asks somebody who looks like somebody else. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "api.example.com@127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 31) (i32.const 1000) (i32.const 1)))
    (i32.const 0)))
