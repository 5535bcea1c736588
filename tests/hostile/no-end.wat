;;! does = "Writes a small number in more bytes than there are."
;;! comes = "Refused as what it is."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; A length of zero, and zero, and zero.
(module binary
  "\00asm" "\0d\00\01\00" "\07\80\80\80\80\80\80\80\80\80\80\00")
