;;! does = "Closes a directory and opens a file in it."
;;! comes = "Trapped: there is no such handle any more."
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
;;! codes = [3]
;;! message = ["trap: unknown handle index"]
;; Uses a descriptor that is closed. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "close" (func $close (param i32)))
  (data (i32.const 500) "a")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $close (local.get $dir))
    (call $open (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 408))
    (i32.const 0)))
