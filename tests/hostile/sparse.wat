;;! does = "Makes a file of 512 GiB that takes no room on the disk, but would in a copy."
;;! comes = "Its length counts: over the quota."
;;!
;;! [setup]
;;! files = { "data/a" = "" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;! max-size = "1 MiB"
;;!
;;! [expect]
;;! codes = [8]
;;! message = ["refused: quota of 1 MiB"]
;; Makes a file as long as there are numbers for it. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "set-size" (func $set-size (param i32 i64 i32)))
  (data (i32.const 500) "huge")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    ;; create, write
    (call $open (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 4) (i32.const 1) (i32.const 2) (i32.const 408))
    (call $set-size (i32.load (i32.const 412)) (i64.const 0x7fffffffff) (i32.const 408))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
