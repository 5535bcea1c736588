;;! does = "Plants a link that stays within the directory until it is moved."
;;! comes = "No links are made, wherever they lead."
;;!
;;! [setup]
;;! files = { "data/secret" = "", "data/deep/a" = "" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;!
;;! [expect]
;;! codes = [33]
;;! message = ["refused: `/data/deep/link` is not made"]
;;! absent = ["data/deep/link"]
;; Plants a link that leads out only after it was moved. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "symlink" (func $symlink (param i32 i32 i32 i32 i32 i32)))
  (data (i32.const 500) "../secret")
  (data (i32.const 509) "deep/link")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $symlink (local.get $dir) (i32.const 500) (i32.const 9) (i32.const 509) (i32.const 9) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
