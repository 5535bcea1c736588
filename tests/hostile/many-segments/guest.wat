;; Segments without data.
(component
  (core module
  ;; MANY
))
