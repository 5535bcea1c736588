;;! does = "Logs a text that goes on beyond its memory."
;;! comes = "Trapped where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Logs a text of which the first half is in its memory.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (call $log (i32.const 2) (i32.const 32768) (i32.const 65536))
    (i32.const 0)))
