;;! does = "Sends requests without end."
;;! comes = "Stopped at their limit."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*"]
;;!
;;! [http]
;;! requests = 20
;;! connections = 100
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [1015, 1011]
;;! message = ["20"]
;;! asked = 20
;; Asks again and again. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (func (export "execute") (param i32) (result i32)
    (local $status i32)
    (loop $more
      (local.set $status (call $send (i32.const 500) (i32.const 15) (i32.const 1000) (i32.const 1)))
      (br_if $more (i32.lt_s (local.get $status) (i32.const 1000))))
    (i32.store (i32.const 0) (local.get $status))
    (i32.const 0)))
