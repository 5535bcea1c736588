;;! does = "Climbs out of the path that it is granted, encoded."
;;! comes = "Denied: a path that may be read in two ways is not meant."
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
;; Asks for what is above, in disguise. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/v1/%2e%2e/v2")
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 0) (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 13)))
    (i32.const 0)))
