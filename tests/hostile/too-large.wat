;;! does = "Is larger than a component may be."
;;! comes = "Refused by its size before anybody reads it."
;;!
;;! [limits]
;;! component = "1 MiB"
;;!
;;! [repeat.NOTHING]
;;! text = 'nothing, nothing and again nothing'
;;! times = 40000
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["over the limit of 1 MiB (limits.component)"]
;; A section that says nothing, at length.
(component
  (@custom "nothing" ";; NOTHING
"))
