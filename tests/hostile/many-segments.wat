;;! does = "Has a hundred thousand data segments."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.MANY]
;;! text = '(data "") '
;;! times = 100001
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 100000 data segments"]
;; Segments without data.
(component
  (core module
  ;; MANY
))
