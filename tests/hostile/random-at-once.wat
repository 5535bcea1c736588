;;! does = "Asks for a terabyte of random bytes."
;;! comes = "Stopped before there are any."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more random bytes in one call than the limit of 1 MiB"]
;;! grown-mib = 16
;; Asks for a terabyte of random bytes.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-random-bytes" (func $random (param i64 i32)))
  (func (export "execute") (param i32) (result i32)
    (call $random (i64.const 1099511627776) (i32.const 400))
    (i32.const 0)))
