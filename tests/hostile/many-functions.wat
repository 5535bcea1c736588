;;! does = "Has a hundred thousand functions."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.MANY]
;;! text = '(func) '
;;! times = 100001
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 100000 functions"]
;; Functions that do nothing.
(component
  (core module
  ;; MANY
))
