;; A length of zero, and zero, and zero.
(module binary
  "\00asm" "\0d\00\01\00" "\07\80\80\80\80\80\80\80\80\80\80\00")
