;;! does = "Declares a table of four billion elements."
;;! comes = "Not instantiated."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["(limits.table-elements)"]
;;! grown-mib = 16
;; Declares a table as long as there are numbers (RUSTSEC-2026-0114).
(core module $guest
  (import "libc" "memory" (memory 1))
  (table 0xffffffff funcref)
  (func (export "execute") (param i32) (result i32)
    (i32.const 0)))
