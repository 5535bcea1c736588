;; Exports an instance under the name of the function.
(component
  (instance $nothing)
  (export "execute" (instance $nothing)))
