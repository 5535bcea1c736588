;;! does = "Moves a file out of the granted directory."
;;! comes = "Refused, and it is where it was."
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
;;! there = ["data/a"]
;;! absent = ["b"]
;; Moves a file to a path that climbs. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "rename" (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
  (data (i32.const 500) "a")
  (data (i32.const 510) "../b")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $rename (local.get $dir) (i32.const 500) (i32.const 1) (local.get $dir) (i32.const 510) (i32.const 4) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
