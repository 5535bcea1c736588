;; Functions that do nothing.
(component
  (core module
  ;; MANY
))
