;; Which of the two would it be?
(component
  (import "a" (func $a))
  (export "b" (func $a))
  (export "b" (func $a)))
