;;! does = "Says 900 KB on standard error without a line's end, and traps."
;;! comes = "An error with the first kilobyte of it."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;;! grown-mib = 32
;; Writes a line that is longer than messages are.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stderr" (func $get-stderr (result i32)))
  (import "wasi" "write" (func $write (param i32 i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (local $n i32) (local $count i32)
    (memory.fill (i32.const 1024) (i32.const 120) (i32.const 4096))
    (local.set $n (call $get-stderr))
    (loop $more
      (call $write (local.get $n) (i32.const 1024) (i32.const 4096) (i32.const 400))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $count) (i32.const 220))))
    (unreachable)))
