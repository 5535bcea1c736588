;;! does = "Has a hundred thousand globals."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.MANY]
;;! text = '(global i32 (i32.const 0)) '
;;! times = 100001
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 100000 globals"]
;; Globals that hold nothing.
(component
  (core module
  ;; MANY
))
