;;! does = "Grows a table without end."
;;! comes = "Stopped at its table limit."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["table limit of 65536 elements reached"]
;; Grows a table without end.
(core module $guest
  (import "libc" "memory" (memory 1))
  (table 1 funcref)
  (func (export "execute") (param i32) (result i32)
    (loop $for-ever
      (drop (table.grow (ref.null func) (i32.const 1000)))
      (br $for-ever))
    (unreachable)))
