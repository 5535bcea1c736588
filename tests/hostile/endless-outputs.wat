;;! does = "Returns as many outputs as there are numbers."
;;! comes = "Refused where it crosses the boundary, before there is room for them."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: "]
;;! grown-mib = 16
;; Returns four billion outputs.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (i32.store (i32.const 12) (i32.const 1024))
    (i32.store (i32.const 16) (i32.const -1))
    (i32.const 0)))
