;; A name that nobody reads to its end.
(component
  (import ";; LETTERS
" (func)))
