;;! does = "Sets the times of a file by its path, where it may write, and of a link that leads out."
;;! comes = "The file's are set, and the link is refused: times are set of what opens."
;;!
;;! [setup]
;;! files = { "data/a" = "", "outside" = "" }
;;! links = { "data/l" = "../outside" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;!
;;! [expect]
;;! codes = [0]
;; Its code is 1 where the file's times are not set, and 2 where the link's are.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "set-times-at" (func $set-times-at (param i32 i32 i32 i32 i32 i64 i32 i32 i64 i32 i32)))
  (data (i32.const 500) "al")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $set-times-at (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 1)
      (i32.const 1) (i64.const 0) (i32.const 0) (i32.const 1) (i64.const 0) (i32.const 0) (i32.const 408))
    (if (i32.load8_u (i32.const 408)) (then (i32.store (i32.const 0) (i32.const 1))))
    (call $set-times-at (local.get $dir) (i32.const 0) (i32.const 501) (i32.const 1)
      (i32.const 1) (i64.const 0) (i32.const 0) (i32.const 1) (i64.const 0) (i32.const 0) (i32.const 408))
    (if (i32.eqz (i32.load8_u (i32.const 408))) (then (i32.store (i32.const 0) (i32.const 2))))
    (i32.const 0)))
