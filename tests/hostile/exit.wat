;;! does = "Exits instead of returning."
;;! comes = "An error that says so."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the guest exited with status 1"]
;; Exits instead of returning.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "exit" (func $exit (param i32)))
  (func (export "execute") (param i32) (result i32)
    (call $exit (i32.const 1))
    (unreachable)))
