;;! does = "Exports a function under a hundred thousand names."
;;! comes = "Refused by their number before it is compiled."
;;!
;;! [repeat.MANY]
;;! text = '(export "a#" (func 0)) '
;;! times = 100001
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["more than 100000 exports"]
;; One function under many names.
(component
  (core module
  (func)
  ;; MANY
))
