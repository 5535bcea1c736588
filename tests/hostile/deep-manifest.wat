;;! does = "Says of itself, in its manifest, a hundred thousand brackets."
;;! comes = "Refused as what it is, without a stack overflow in the host."
;;!
;;! [repeat.BRACKETS]
;;! text = '['
;;! times = 100000
;;!
;;! [expect]
;;! codes = [3]
;;! message = [""]
;; A manifest that nests too deep.
(component
  (@custom "phasm:manifest" "{\22inputs\22:;; BRACKETS
"))
