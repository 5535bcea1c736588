;;! does = "Plants a link to a file of the host, for a reader of the directory with more rights."
;;! comes = "No links are made, wherever they lead."
;;!
;;! [setup]
;;! files = { "data/a" = "" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;!
;;! [expect]
;;! codes = [33]
;;! message = ["refused: `/data/report` is not made"]
;;! absent = ["data/report"]
;; Plants a symbolic link. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "symlink" (func $symlink (param i32 i32 i32 i32 i32 i32)))
  (data (i32.const 500) "/etc/passwd")
  (data (i32.const 511) "report")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $symlink (local.get $dir) (i32.const 500) (i32.const 11) (i32.const 511) (i32.const 6) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
