;;! does = "Is sent to where it may not go."
;;! comes = "It is told so, and the host goes nowhere."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n"
;;!
;;! [expect]
;;! codes = [302]
;;! asked = 1
;; Asks who answers with a redirect. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 1)))
    (i32.const 0)))
