;;! does = "Waits for the last instant there is."
;;! comes = "Stopped at its deadline."
;;! copies = 8
;;! deadline-ms = 300
;;!
;;! [expect]
;;! codes = [4]
;;! message = ["stopped at its deadline"]
;; Waits for an instant that does not come.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "subscribe-instant" (func $subscribe-instant (param i64) (result i32)))
  (import "wasi" "block" (func $block (param i32)))
  (func (export "execute") (param i32) (result i32)
    (call $block (call $subscribe-instant (i64.const -1)))
    (i32.const 0)))
