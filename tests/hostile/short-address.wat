;;! does = "Writes the address of this machine in two numbers."
;;! comes = "Refused: it has no one reading."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://*:*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [1015]
;;! message = ["its host is invalid"]
;;! asked = 0
;; Asks a host whose name is two numbers. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.1:PORT")
  (data (i32.const 1000) "/")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 11) (i32.const 1000) (i32.const 1)))
    (i32.const 0)))
