;;! does = "Is a core module and no component."
;;! comes = "Refused as what it is."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["this is a core WebAssembly module, not a component"]
;; A module of WebAssembly before there were components.
(module binary
  "\00asm" "\01\00\00\00")
