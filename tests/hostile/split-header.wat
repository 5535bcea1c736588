;;! does = "Writes a second header into the value of the first."
;;! comes = "Refused: a value has no such characters."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [1]
;;! asked = 0
;; Ends the line within a header. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (import "http" "header" (func $header (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (data (i32.const 600) "x-a1\0d\0ax-b: 2")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $header (i32.const 600) (i32.const 3) (i32.const 603) (i32.const 9)))
    (i32.const 0)))
