;; A section that says nothing, at length.
(component
  (@custom "nothing" ";; NOTHING
"))
