;;! does = "Logs at a level that there is not."
;;! comes = "Trapped where it crosses the boundary."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Logs at the ninth of five levels.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (call $log (i32.const 9) (i32.const 0) (i32.const 0))
    (i32.const 0)))
