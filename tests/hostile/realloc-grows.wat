;;! does = "Takes 62 MiB whenever it is asked for a few bytes."
;;! comes = "Stopped at its memory limit."
;;! world = "bare"
;;! copies = 4
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["memory limit of 64 MiB reached"]
;;! grown-mib = 320
;; Grows its memory whenever it is asked for room.
(core module $guest
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (drop (memory.grow (i32.const 992))) (i32.const 1024))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
