;; What would happen if somebody ran it.
(module binary
  "\7fELF\02\01\01\00")
