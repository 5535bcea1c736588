;;! does = "Has types that double in size, sixty times."
;;! comes = "Not compiled: the size of a type is bounded."
;;!
;;! [repeat.TYPES-OF-TYPES]
;;! text = '(type (tuple # #)) '
;;! times = 60
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;;! grown-mib = 64
;; Each type is a pair of the one before.
(component
  (type (tuple u8 u8))
  ;; TYPES-OF-TYPES
)
