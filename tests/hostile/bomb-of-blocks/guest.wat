;; Blocks that do nothing.
(component
  (core module
    (func
      ;; OPEN
      ;; CLOSE
    )
  ))
