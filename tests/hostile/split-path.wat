;;! does = "Writes a second request into the path of the first."
;;! comes = "Refused: a path has no such characters."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [2000]
;;! asked = 0
;; Ends the line within a path. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/ HTTP/1.1\0d\0a\0d\0aGET /secret")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 25)))
    (i32.const 0)))
