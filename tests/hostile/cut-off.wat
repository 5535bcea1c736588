;;! does = "Is a component that ends amid a section."
;;! comes = "Refused as what it is."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; A section that says it has four gigabytes, and has three.
(module binary
  "\00asm" "\0d\00\01\00" "\07\ff\ff\ff\ff\0f" "abc")
