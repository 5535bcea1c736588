;; Imports what nobody offers.
(component
  (import "acme:teleport/beam@1.0.0" (instance (export "up" (func)))))
