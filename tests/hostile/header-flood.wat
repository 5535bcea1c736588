;;! does = "Adds headers without end."
;;! comes = "Stopped at their limit."
;;! world = "http"
;;!
;;! [grants.guest]
;;! http = ["http://127.0.0.1:*"]
;;!
;;! [server]
;;! says = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["`headers` under `[http]`"]
;;! grown-mib = 64
;; Adds headers until something happens. Its code is the status it got, or 1000 + the error.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "http" "send" (func $send (param i32 i32 i32 i32) (result i32)))
  (import "http" "header" (func $header (param i32 i32 i32 i32) (result i32)))
  (data (i32.const 500) "127.0.0.1:PORT")
  (data (i32.const 1000) "/")
  (data (i32.const 600) "x-aaaa")
  (func (export "execute") (param i32) (result i32)
    (loop $more
      (br_if $more (i32.eqz (call $header (i32.const 600) (i32.const 6) (i32.const 600) (i32.const 6)))))
    (unreachable)))
