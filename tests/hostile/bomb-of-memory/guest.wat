;; A thousand values that leave each of many functions.
(component
  (core module
    (type $wide (func (result
      ;; VALUES
      i64)))
    ;; FUNCTIONS
  ))
