;; One function under many names.
(component
  (core module
  (func)
  ;; MANY
))
