;;! does = "Exits before it can be called."
;;! comes = "An error that says so."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the guest exited with status 0"]
;; Exits when it is instantiated.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "exit" (func $exit (param i32)))
  (func $start (call $exit (i32.const 0)))
  (start $start)
  (func (export "execute") (param i32) (result i32)
    (unreachable)))
