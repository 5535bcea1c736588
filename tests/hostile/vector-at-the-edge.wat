;;! does = "Loads a vector of which the last byte is outside."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: out of bounds memory access"]
;; Loads a vector of which the last byte is outside.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (i8x16.extract_lane_u 0 (v128.load (i32.const 0xfff1))))
    (i32.const 0)))
