;;! does = "Writes without end to a file that it deleted."
;;! comes = "Bytes without a name count while they are there: over the quota."
;;! copies = 4
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
;; Writes 64 KiB again and again, to a file that has no name any more. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "write-file" (func $write-file (param i32 i32 i32 i64 i32)))
  (import "wasi" "unlink" (func $unlink (param i32 i32 i32 i32)))
  (data (i32.const 500) "gone")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    ;; create, write
    (call $open (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 4) (i32.const 1) (i32.const 2) (i32.const 408))
    (local.set $n (i32.load (i32.const 412)))
    (call $unlink (local.get $dir) (i32.const 500) (i32.const 4) (i32.const 408))
    (block $refused (loop $more
      (call $write-file (local.get $n) (i32.const 0) (i32.const 65536) (i64.load (i32.const 440)) (i32.const 424))
      (i64.store (i32.const 440) (i64.add (i64.load (i32.const 440)) (i64.const 65536)))
      (br_if $more (i32.eqz (i32.load8_u (i32.const 424))))))
    (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 432))))
    (i32.store (i32.const 4) (i32.const 0))
    (i32.store (i32.const 8) (i32.const 0))
    (i32.store (i32.const 12) (i32.const 0))
    (i32.store (i32.const 16) (i32.const 0))
    (i32.store (i32.const 20) (i32.const 0))
    (i32.const 0)))
