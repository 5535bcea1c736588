;;! does = "Waits for five centuries."
;;! comes = "Stopped at its deadline."
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Waits as long as there are nanoseconds.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
  (import "wasi" "block" (func $block (param i32)))
  (func (export "execute") (param i32) (result i32)
    (call $block (call $subscribe-duration (i64.const -1)))
    (i32.const 0)))
