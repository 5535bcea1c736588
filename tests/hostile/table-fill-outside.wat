;;! does = "Fills a table beyond its end."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Fills a table beyond its end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (table $table 4 funcref)
  (func (export "execute") (param i32) (result i32)
    (table.fill $table (i32.const 1) (ref.null func) (i32.const -1))
    (i32.const 0)))
