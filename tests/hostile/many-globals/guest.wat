;; Globals that hold nothing.
(component
  (core module
  ;; MANY
))
