;;! does = "Refers to what surrounds it where nothing does."
;;! comes = "Not compiled."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Takes a type of a component around it that there is not.
(component
  (component (alias outer 9 0 (type)))
)
