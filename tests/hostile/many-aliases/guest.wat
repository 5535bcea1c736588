;; One function of an instance, again and again.
(component
  (import "a" (instance (export "f" (func))))
  ;; MANY
)
