;;! does = "Is a component in a component, and so on."
;;! comes = "Refused by its levels before it is compiled."
;;!
;;! [repeat.OPEN]
;;! text = '(component '
;;! times = 20
;;!
;;! [repeat.CLOSE]
;;! text = ')'
;;! times = 20
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 16 levels of nested components"]
;; Twenty components, each in the one before.
(component
;; OPEN
;; CLOSE
)
