;; One instruction that may go on at 70 000 places.
(component
  (core module
    (func (param i32)
      (block (br_table
        ;; PLACES
        0 (local.get 0))))
  ))
