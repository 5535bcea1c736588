;;! does = "Names another method in a header than it is granted."
;;! comes = "Denied: a header that a server may take for the method needs a grant for it."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["GET http://127.0.0.1:*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [1015]
;;! message = ["not granted", "DELETE http://127.0.0.1"]
;;! asked = 0
;; Sends GET with `x-http-method-override: delete`. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (import "http" "header" (func $header (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (data (i32.const 600) "x-http-method-overridedelete")
  (func (export "execute") (param i32) (result i32)
    (drop (call $header (i32.const 600) (i32.const 22) (i32.const 622) (i32.const 6)))
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 1)))
    (i32.const 0)))
