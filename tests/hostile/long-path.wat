;;! does = "Opens a path of 32 KB."
;;! comes = "An error."
;;!
;;! [setup]
;;! files = { "data/a" = "" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;!
;;! [repeat.PATH]
;;! text = 'aaaaaaa/'
;;! times = 4000
;;!
;;! [expect]
;;! codes = [20]
;; Opens a path that no system takes. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (data (i32.const 16384) ";; PATH
")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $open (local.get $dir) (i32.const 0) (i32.const 16384) (i32.const 32000)
      (i32.const 0) (i32.const 1) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 412))))))
    (i32.const 0)))
