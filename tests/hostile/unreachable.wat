;;! does = "Reaches what cannot be reached."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: wasm `unreachable` instruction executed"]
;; Reaches what cannot be reached.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (unreachable)
    (i32.const 0)))
