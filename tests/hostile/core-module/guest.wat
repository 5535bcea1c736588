;; A module of WebAssembly before there were components.
(module binary
  "\00asm" "\01\00\00\00")
