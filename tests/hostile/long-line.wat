;;! does = "Logs a line of a megabyte, all but."
;;! comes = "The line is cut, and it succeeds."
;;!
;;! [expect]
;;! codes = [0]
;;! grown-mib = 64
;; Logs what nobody reads to its end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 16)))
    (memory.fill (i32.const 1024) (i32.const 120) (i32.const 1048000))
    (call $log (i32.const 2) (i32.const 1024) (i32.const 1048000))
    (i32.const 0)))
