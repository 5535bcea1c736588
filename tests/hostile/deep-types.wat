;;! does = "Has lists of lists, two thousand deep."
;;! comes = "Refused, or compiled: no stack overflows."
;;!
;;! [repeat.LISTS]
;;! text = '(type (list #)) '
;;! times = 2000
;;!
;;! [expect]
;;! codes = [3]
;;! message = [""]
;;! grown-mib = 64
;; Each type is a list of the one before.
(component
  (type (list u8))
  ;; LISTS
  (import "a" (func (param "a" 2000)))
)
