;;! does = "Declares a hundred tables."
;;! comes = "Refused: a plugin has so many at most."
;;!
;;! [repeat.TABLES]
;;! text = '(table 1 funcref) '
;;! times = 100
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["limits.tables"]
;; Declares tables.
(core module $guest
  (import "libc" "memory" (memory 1))
  ;; TABLES
  (func (export "execute") (param i32) (result i32)
    (i32.const 0)))
