;;! does = "Has a function of more than 2 MiB."
;;! comes = "Refused by its size before it is compiled."
;;!
;;! [repeat.CODE]
;;! text = '(drop (i64.const 0x7edcba9876543210)) '
;;! times = 180000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 2097152 bytes in one function"]
;; A function that says the same thing again and again.
(component
  (core module
    (func
      ;; CODE
    )
  ))
