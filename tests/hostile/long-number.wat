;;! does = "Returns a number of 32 000 digits."
;;! comes = "Taken for the number nearest to it, or refused, without computing with all of them."
;;!
;;! [repeat.DIGITS]
;;! text = '7'
;;! times = 32000
;;!
;;! [expect]
;;! codes = [0, 3]
;; Returns a long number.
(core module $guest
  (import "libc" "memory" (memory 1))
  (data (i32.const 200) "a")
  (data (i32.const 16384) ";; DIGITS
")
  (func (export "execute") (param i32) (result i32)
    ;; the output `a`
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 1))
    (i32.store (i32.const 108) (i32.const 16384))
    (i32.store (i32.const 112) (i32.const 32000))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
