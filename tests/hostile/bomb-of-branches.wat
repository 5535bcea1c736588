;;! does = "Has a table of 70 000 branches, which took a compiler gigabytes."
;;! comes = "Refused by its edges before it is compiled."
;;!
;;! [repeat.PLACES]
;;! text = '0 '
;;! times = 70000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 65536 edges and values"]
;; One instruction that may go on at 70 000 places.
(component
  (core module
    (func (param i32)
      (block (br_table
        ;; PLACES
        0 (local.get 0))))
  ))
