;; Made for another version of the world.
(component
  (import "phasm:executor/host@0.2.0" (instance (export "heartbeat" (func)))))
