;;! does = "Has variables that are all needed until the end, through loops and conditions."
;;! comes = "Stopped at the limit on compiling: the child that does it ends, and no other call waits."
;;!
;;! [limits]
;;! compile-time = "1s"
;;!
;;! [repeat.VARIABLES]
;;! text = 'i64 '
;;! times = 3000
;;!
;;! [repeat.LOOPS]
;;! text = '(loop (local.set 0 (i64.add (local.get 0) (local.get #))) (local.set # (i64.add (local.get 0) (local.get #))) (br_if 0 (i32.wrap_i64 (local.get #)))) '
;;! times = 3000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["`compile-time` in [limits]"]
;; Each variable is the sum of itself and the next, as often as anybody likes.
(component
  (core module
    (func (local
      ;; VARIABLES
      i32)
      ;; LOOPS
    )
  ))
