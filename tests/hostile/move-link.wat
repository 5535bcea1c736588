;;! does = "Moves a link of the operator to where it leads out of the directory."
;;! comes = "Links are not moved."
;;!
;;! [setup]
;;! files = { "secret" = "", "data/secret" = "", "data/deep/a" = "" }
;;! links = { "data/deep/link" = "../secret" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;!
;;! [expect]
;;! codes = [33]
;;! message = ["refused: `/data/deep/link` is not moved"]
;;! there = ["data/deep/link"]
;;! absent = ["data/link"]
;; Moves a link of the operator one level up, where it leads out. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "rename" (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
  (data (i32.const 500) "deep/link")
  (data (i32.const 509) "link")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $rename (local.get $dir) (i32.const 500) (i32.const 9) (local.get $dir) (i32.const 509) (i32.const 4) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
