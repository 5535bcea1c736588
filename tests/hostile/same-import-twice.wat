;;! does = "Imports two functions whose names differ in their letters only."
;;! comes = "Not compiled."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Names that people and languages take for the same.
(component
  (import "a-b" (func))
  (import "A-B" (func)))
