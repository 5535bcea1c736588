;;! does = "Is answered with two lengths, one of which is a lie."
;;! comes = "An error: neither is chosen."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\nokGET"
;;!
;;! [expect]
;;! codes = [1035, 1038, 1025, 2]
;; Asks who frames his answer in two ways. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (import "http" "read" (func $read (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (func (export "execute") (param i32) (result i32)
    (local $status i32)
    (local.set $status (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 1)))
    (if (i32.ge_s (local.get $status) (i32.const 1000)) (then
      (i32.store (i32.const 0) (local.get $status))
      (return (i32.const 0))))
    (loop $more (br_if $more (i32.ge_s (call $read) (i32.const 0))))
    (i32.store (i32.const 0) (i32.const 2))
    (i32.const 0)))
