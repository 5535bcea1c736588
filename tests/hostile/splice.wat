;;! does = "Has the host copy from standard input to standard output, without end."
;;! comes = "Stopped at its deadline: there is nothing to copy."
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Joins its streams.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stdin" (func $get-stdin (result i32)))
  (import "wasi" "get-stdout" (func $get-stdout (result i32)))
  (import "wasi" "splice" (func $splice (param i32 i32 i64 i32)))
  (func (export "execute") (param i32) (result i32)
    (local $in i32) (local $out i32)
    (local.set $in (call $get-stdin))
    (local.set $out (call $get-stdout))
    (loop $more
      (call $splice (local.get $out) (local.get $in) (i64.const -1) (i32.const 400))
      (br $more))
    (unreachable)))
