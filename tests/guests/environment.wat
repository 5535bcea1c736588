;; Its code is the number of variables in its environment; of exactly one, name and value are the message.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-environment" (func $get-environment (param i32)))
  (func (export "execute") (param i32) (result i32)
    (local $first i32)
    (call $get-environment (i32.const 400))
    (i32.store (i32.const 0) (i32.load (i32.const 404)))
    (if (i32.eq (i32.load (i32.const 404)) (i32.const 1)) (then
      (local.set $first (i32.load (i32.const 400)))
      (i32.store (i32.const 4) (i32.load offset=8 (local.get $first)))
      (i32.store (i32.const 8) (i32.load offset=12 (local.get $first)))))
    (i32.const 0)))
