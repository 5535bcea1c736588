;;! does = "Imports a function with a name of 200 KB."
;;! comes = "Not compiled."
;;!
;;! [repeat.LETTERS]
;;! text = 'a'
;;! times = 200000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; A name that nobody reads to its end.
(component
  (import ";; LETTERS
" (func)))
