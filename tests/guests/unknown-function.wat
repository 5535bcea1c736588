;; Imports a function that the host's interface does not have.
(component
  (import "phasm:executor/host@0.1.0" (instance (export "shout" (func)))))
