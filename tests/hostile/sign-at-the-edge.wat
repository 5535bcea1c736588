;;! does = "Takes the sign of the last number of its memory."
;;! comes = "It succeeds, and nothing behind that is read."
;;!
;;! [expect]
;;! codes = [0]
;; Loads eight bytes at the end of its memory, in an instruction that may want sixteen (RUSTSEC-2026-0006).
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (f64.copysign (f64.const 1) (f64.load (i32.const 0xfff8))))
    (i32.const 0)))
