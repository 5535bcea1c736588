;;! does = "Returns a detail of 9 MiB."
;;! comes = "Refused by its size before anything is parsed."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["output over its limit of 8 MiB"]
;;! grown-mib = 64
;; Returns a detail that is larger than an outcome may be.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (memory.grow (i32.const 145)))
    (memory.fill (i32.const 65536) (i32.const 32) (i32.const 9437184))
    (i32.store8 (i32.const 20) (i32.const 1))
    (i32.store (i32.const 24) (i32.const 65536))
    (i32.store (i32.const 28) (i32.const 9437184))
    (i32.const 0)))
