;;! does = "Makes a whole number of what is none."
;;! comes = "An error that names the trap."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["trap: invalid conversion to integer"]
;; Makes a whole number of what is none.
(core module $guest
  (import "libc" "memory" (memory 1))
  (func (export "execute") (param i32) (result i32)
    (drop (i32.trunc_f64_s (f64.const nan)))
    (i32.const 0)))
