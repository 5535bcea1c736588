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
