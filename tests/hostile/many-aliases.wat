;;! does = "Names one function a hundred thousand times."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.MANY]
;;! text = '(alias export 0 "f" (func)) '
;;! times = 100001
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 100000 aliases"]
;; One function of an instance, again and again.
(component
  (import "a" (instance (export "f" (func))))
  ;; MANY
)
