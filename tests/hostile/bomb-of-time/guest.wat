;; Each variable is the sum of itself and the next, as often as anybody likes.
(component
  (core module
    (func (local
      ;; VARIABLES
      i32)
      ;; LOOPS
    )
  ))
