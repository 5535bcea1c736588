;;! does = "Asks for a terabyte of numbers that are only meant to look random."
;;! comes = "Stopped before there are any."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more random bytes in one call than the limit of 1 MiB"]
;;! grown-mib = 16
;; Asks another interface than `random-at-once` does.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-insecure-random-bytes" (func $get-insecure-random-bytes (param i64 i32)))
  (func (export "execute") (param i32) (result i32)
    (call $get-insecure-random-bytes (i64.const 1099511627776) (i32.const 400))
    (i32.const 0)))
