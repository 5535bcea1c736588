;;! does = "Writes zeroes to a file by a stream, without end."
;;! comes = "Refused over the quota."
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
;; Appends zeroes until it is refused. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "append-stream" (func $append-stream (param i32 i32)))
  (import "wasi" "flush-zeroes" (func $flush-zeroes (param i32 i64 i32)))
  (data (i32.const 500) "n")
  (func (export "execute") (param i32) (result i32)
    (local $dir i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $open (local.get $dir) (i32.const 0) (i32.const 500) (i32.const 1) (i32.const 1) (i32.const 2) (i32.const 408))
    (call $append-stream (i32.load (i32.const 412)) (i32.const 408))
    (local.set $dir (i32.load (i32.const 412)))
    (loop $more
      (call $flush-zeroes (local.get $dir) (i64.const 4096) (i32.const 408))
      (br_if $more (i32.eqz (i32.load8_u (i32.const 408)))))
    (i32.store (i32.const 0) (i32.const 8))
    (i32.const 0)))
