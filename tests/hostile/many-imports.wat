;;! does = "Imports a hundred thousand functions."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.MANY]
;;! text = '(import "a#" (func (type 0))) '
;;! times = 100001
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 100000 imports"]
;; Functions that nobody has.
(component
  (type (func))
  ;; MANY
)
