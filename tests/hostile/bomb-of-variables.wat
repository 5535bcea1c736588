;;! does = "Has a function of 20 000 variables."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.VARIABLES]
;;! text = 'i64 '
;;! times = 20000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 10000 local variables in one function"]
;; Variables that hold nothing.
(component
  (core module
    (func (local
      ;; VARIABLES
      i32))
  ))
