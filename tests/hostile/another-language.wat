;;! does = "Is a program for this machine."
;;! comes = "Refused as what it is."
;;!
;;! [expect]
;;! codes = [3]
;;! message = [""]
;; What would happen if somebody ran it.
(module binary
  "\7fELF\02\01\01\00")
