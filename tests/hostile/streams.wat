;;! does = "Makes streams of one file without end."
;;! comes = "Refused: they count as descriptors."
;;!
;;! [setup]
;;! files = { "data/a" = "" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;!
;;! [expect]
;;! codes = [8]
;;! message = ["refused: more than 64 files, directories and streams open at once"]
;; Reads a file by a thousand streams. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "stream" (func $stream (param i32 i64 i32)))
  (data (i32.const 500) "a")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $open (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 408))
    (local.set $n (i32.load (i32.const 412)))
    (loop $more
      (call $stream (local.get $n) (i64.const 0) (i32.const 408))
      (br_if $more (i32.eqz (i32.load8_u (i32.const 408)))))
    (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 412))))
    (i32.const 0)))
