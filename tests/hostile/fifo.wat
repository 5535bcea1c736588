;;! does = "Opens a FIFO in a directory that it may only read."
;;! comes = "Only files and directories open: an error at once, and who runs it is told why."
;;! copies = 8
;;! deadline-ms = 2000
;;!
;;! [setup]
;;! fifos = ["data/pipe"]
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;!
;;! [expect]
;;! # 2 and the error: not-permitted
;;! codes = [33]
;;! message = ["refused: `/data/pipe` is neither a file nor a directory"]
;; Opens a FIFO that nobody writes to, and reads from it. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
  (import "wasi" "read" (func $read (param i32 i64 i64 i32)))
  (data (i32.const 500) "pipe")
  (func (export "execute") (param i32) (result i32)
    (call $get-directories (i32.const 400))
    ;; read
    (call $open (i32.load (i32.load (i32.const 400))) (i32.const 0) (i32.const 500) (i32.const 4)
      (i32.const 0) (i32.const 1) (i32.const 408))
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 412))))
      (return (i32.const 0))))
    (call $read (i32.load (i32.const 412)) (i64.const 1) (i64.const 0) (i32.const 416))
    (i32.const 0)))
