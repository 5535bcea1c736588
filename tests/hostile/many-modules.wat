;;! does = "Is made of a thousand modules."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.MODULES]
;;! text = '(core module) '
;;! times = 1001
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 1000 nested modules and components"]
;; Modules with nothing in them.
(component
  ;; MODULES
)
