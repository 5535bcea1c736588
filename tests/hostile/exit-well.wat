;;! does = "Exits and says that all went well."
;;! comes = "An error: only who returns has succeeded."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the guest exited with status 0"]
;; Exits with 0.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "exit" (func $exit (param i32)))
  (func (export "execute") (param i32) (result i32)
    (call $exit (i32.const 0))
    (unreachable)))
