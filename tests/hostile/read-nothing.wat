;;! does = "Reads from standard input, where there is nothing, without end."
;;! comes = "Stopped at its deadline, or told that it is closed."
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Reads what does not come.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stdin" (func $get-stdin (result i32)))
  (import "wasi" "read-stream" (func $read-stream (param i32 i64 i32)))
  (func (export "execute") (param i32) (result i32)
    (local $in i32)
    (local.set $in (call $get-stdin))
    (loop $more
      (call $read-stream (local.get $in) (i64.const -1) (i32.const 400))
      (br $more))
    (unreachable)))
