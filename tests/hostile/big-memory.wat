;;! does = "Declares a memory larger than the limit."
;;! comes = "Not instantiated."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["memory limit of 64 MiB reached"]
;; Declares a second memory of 1 GiB.
(core module $guest
  (import "libc" "memory" (memory 1))
  (memory 16384)
  (func (export "execute") (param i32) (result i32) (i32.const 0)))
