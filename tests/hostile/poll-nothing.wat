;;! does = "Waits for the first of no timers."
;;! comes = "Trapped: nothing would ever come."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Polls an empty list.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "poll" (func $poll (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (call $poll (i32.const 0) (i32.const 0) (i32.const 400))
    (i32.const 0)))
