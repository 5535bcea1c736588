;;! does = "Has functions that together take more than their compiler may."
;;! comes = "Stopped at the limit on compiling: only the child that does it ends."
;;!
;;! [limits]
;;! compile-memory = "32 MiB"
;;!
;;! [repeat.VALUES]
;;! text = 'i64 '
;;! times = 900
;;!
;;! [repeat.FUNCTIONS]
;;! text = '(func (type $wide) (call #)) '
;;! times = 300
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["of memory; the limit is `compile-memory`"]
;; A thousand values that leave each of many functions.
(component
  (core module
    (type $wide (func (result
      ;; VALUES
      i64)))
    ;; FUNCTIONS
  ))
