;;! does = "Waits for a stream as if it were a timer."
;;! comes = "Trapped: the handle is of another kind."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Uses a stream where a timer is expected.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-stdout" (func $get-stdout (result i32)))
  (import "wasi" "block" (func $block (param i32)))
  (func (export "execute") (param i32) (result i32)
    (call $block (call $get-stdout))
    (i32.const 0)))
