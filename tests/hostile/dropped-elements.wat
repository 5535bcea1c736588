;;! does = "Fills a table from an element segment that it has dropped."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;; Uses an element segment that is gone (RUSTSEC-2024-0441).
(core module $guest
  (import "libc" "memory" (memory 1))
  (table $table 1 funcref)
  (elem $some funcref (ref.null func))
  (func (export "execute") (param i32) (result i32)
    (elem.drop $some)
    (table.init $table $some (i32.const 0) (i32.const 0) (i32.const 1))
    (i32.const 0)))
