;;! does = "Waits for a timer that it never made."
;;! comes = "Trapped: there is no such handle."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: unknown handle index 77"]
;; Uses a handle that nobody gave it.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "block" (func $block (param i32)))
  (func (export "execute") (param i32) (result i32)
    (call $block (i32.const 77))
    (i32.const 0)))
