;;! does = "Says that it has four billion types, in five bytes."
;;! comes = "Refused as what it is."
;;!
;;! [expect]
;;! codes = [3]
;;! message = [""]
;; A section of types that are not there.
(module binary
  "\00asm" "\0d\00\01\00" "\07\05" "\ff\ff\ff\ff\0f")
