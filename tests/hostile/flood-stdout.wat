;;! does = "Writes to standard output without end, and never ends the line."
;;! comes = "Stopped at its log limit."
;;! copies = 4
;;! deadline-ms = 9000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["log over its limit of 1 MiB"]
;;! grown-mib = 64
;; Writes to standard output without end and without a line's end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stdout" (func $get-stdout (result i32)))
  (import "wasi" "write" (func $write (param i32 i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (local $stream i32)
    (local.set $stream (call $get-stdout))
    (loop $for-ever
      (call $write (local.get $stream) (i32.const 1024) (i32.const 4096) (i32.const 400))
      (br $for-ever))
    (unreachable)))
