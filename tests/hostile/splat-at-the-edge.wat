;;! does = "Loads the last number of its memory into both halves of a vector."
;;! comes = "It succeeds, and nothing behind that is read."
;;!
;;! [expect]
;;! codes = [0]
;; Loads eight bytes at the end of its memory, in an instruction that may want sixteen (RUSTSEC-2026-0087).
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (f64x2.extract_lane 1 (f64x2.splat (f64.load (i32.const 0xfff8)))))
    (i32.const 0)))
