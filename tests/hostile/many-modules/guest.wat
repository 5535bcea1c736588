;; Modules with nothing in them.
(component
  ;; MODULES
)
