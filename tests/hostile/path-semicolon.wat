;;! does = "Asks for what lies above its path, with an encoded semicolon behind the dots."
;;! comes = "Denied: no pattern with a path covers what servers read in several ways."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*/v1/*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [1015]
;;! message = ["not granted"]
;;! asked = 0
;; Asks for a path. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/v1/..%3b/x")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 11)))
    (i32.const 0)))
