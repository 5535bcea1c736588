;;! does = "Has a memory with pages of a byte."
;;! comes = "Not compiled: what the world does not need is off."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["the component cannot be compiled"]
;; Has a memory whose pages are as small as they go.
(component
  (core module $guest
    (memory 100 (pagesize 1)))
  (core instance (instantiate $guest)))
