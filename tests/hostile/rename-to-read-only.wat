;;! does = "Moves a file from a directory that it may write to one that it may only read."
;;! comes = "Refused, and both are as they were."
;;!
;;! [setup]
;;! files = { "data/a" = "mine", "kept/a" = "precious" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;!
;;! [[grants.guest.dirs]]
;;! host = "kept"
;;! guest = "/kept"
;;!
;;! [expect]
;;! codes = [33]
;;! unchanged = ["kept/a", "data/a"]
;; Moves a file over one that it may not touch (RUSTSEC-2026-0188). Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "rename" (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
  (data (i32.const 500) "a")
  (func (export "execute") (param i32) (result i32)
    (local $dirs i32)
    (call $get-directories (i32.const 400))
    (local.set $dirs (i32.load (i32.const 400)))
    ;; the second directory lies 12 bytes behind the first
    (call $rename (i32.load (local.get $dirs)) (i32.const 500) (i32.const 1)
      (i32.load offset=12 (local.get $dirs)) (i32.const 500) (i32.const 1) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
