;;! does = "Sends a request to this machine, where it is granted any host."
;;! comes = "Refused: an inner address has to be granted by name."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://*:*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [1004, 1015]
;;! message = ["loopback"]
;;! asked = 0
;; Asks a server on this machine. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 1)))
    (i32.const 0)))
