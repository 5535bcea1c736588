;; Begins with a second memory of 24 MiB, and succeeds.
(core module $guest
  (import "libc" "memory" (memory 1))
  (memory 384)
  (func (export "execute") (param i32) (result i32) (i32.const 0)))
