;;! does = "Calls itself with a thousand values on the stack, to step over what guards it."
;;! comes = "Stopped at its stack limit."
;;!
;;! [repeat.LOADS]
;;! text = '(i64.load offset=# (local.get 0)) '
;;! times = 1000
;;!
;;! [repeat.SUMS]
;;! text = 'i64.add '
;;! times = 999
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["stack overflow: limit of 512 KiB reached"]
;; Each call of it takes pages of the stack at once.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func $deeper (param i32) (result i32)
    ;; LOADS
    (drop (call $deeper (local.get 0)))
    ;; SUMS
    drop
    (i32.const 0))
  (func (export "execute") (param i32) (result i32)
    (call $deeper (local.get 0))))
