;; Counts its calls in a global and in memory, and returns the sum: 2 when the instance is fresh.
(core module $guest
  (import "libc" "memory" (memory 1))
  (global $calls (mut i32) (i32.const 0))
  (data (i32.const 200) "n0")
  (func (export "execute") (param i32) (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store (i32.const 300) (i32.add (i32.load (i32.const 300)) (i32.const 1)))
    (i32.store8 (i32.const 201) (i32.add (i32.const 48) (i32.add (global.get $calls) (i32.load (i32.const 300)))))
    ;; One output: name "n", value the digit.
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 1))
    (i32.store (i32.const 108) (i32.const 201))
    (i32.store (i32.const 112) (i32.const 1))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
