;;! does = "Exports `execute`, and it is no function."
;;! comes = "Refused: a function is expected."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["does not export"]
;; Exports an instance under the name of the function.
(component
  (instance $nothing)
  (export "execute" (instance $nothing)))
