;; A function that says the same thing again and again.
(component
  (core module
    (func
      ;; CODE
    )
  ))
