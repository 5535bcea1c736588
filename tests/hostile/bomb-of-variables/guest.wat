;; Variables that hold nothing.
(component
  (core module
    (func (local
      ;; VARIABLES
      i32))
  ))
