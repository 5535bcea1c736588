;; A manifest that nests too deep.
(component
  (@custom "phasm:manifest" "{\22inputs\22:;; BRACKETS
"))
