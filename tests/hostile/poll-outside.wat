;;! does = "Waits for timers that lie outside its memory."
;;! comes = "Trapped where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;;! grown-mib = 16
;; Polls a list that is not there.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "poll" (func $poll (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (call $poll (i32.const 0x10000) (i32.const 0x3fffffff) (i32.const 400))
    (i32.const 0)))
