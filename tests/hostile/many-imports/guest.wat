;; Functions that nobody has.
(component
  (type (func))
  ;; MANY
)
