;;! does = "Exports two functions under one name."
;;! comes = "Not compiled."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Which of the two would it be?
(component
  (import "a" (func $a))
  (export "b" (func $a))
  (export "b" (func $a)))
