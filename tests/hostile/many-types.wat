;;! does = "Has a hundred thousand types."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.MANY]
;;! text = '(type u8) '
;;! times = 100001
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 100000 types"]
;; Types that are nothing but a name.
(component
  ;; MANY
)
