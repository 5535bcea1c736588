;;! does = "Tells progress that is not a number, infinite, and far below nothing."
;;! comes = "Nothing comes of it."
;;!
;;! [expect]
;;! codes = [0]
;; Tells what is no progress.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "progress" (func $progress (param i32 f64 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (call $progress (i32.const 1) (f64.const nan:0x8000000000001) (i32.const 0) (i32.const 0))
    (call $progress (i32.const 1) (f64.const inf) (i32.const 0) (i32.const 0))
    (call $progress (i32.const 1) (f64.const -1e308) (i32.const 0) (i32.const 0))
    (i32.const 0)))
