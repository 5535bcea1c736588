;;! does = "Has blocks in blocks, 20 000 deep."
;;! comes = "Refused by their levels before it is compiled."
;;!
;;! [repeat.OPEN]
;;! text = 'block '
;;! times = 20000
;;!
;;! [repeat.CLOSE]
;;! text = 'end '
;;! times = 20000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 10000 nested blocks in one function"]
;; Blocks that do nothing.
(component
  (core module
    (func
      ;; OPEN
      ;; CLOSE
    )
  ))
