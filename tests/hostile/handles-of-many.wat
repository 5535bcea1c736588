;;! does = "Makes things of its own in a dozen components, each within its own limit."
;;! comes = "Stopped at the limit on handles: they count together."
;;!
;;! [repeat.MAKERS]
;;! text = '(instance (instantiate $maker)) '
;;! times = 12
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["(limits.handles)"]
;;! grown-mib = 64
;; A dozen components that each make 9 000 resources and keep them (CVE-2026-119134).
(component
  ;; TYPES
  (component $maker
    (type $thing (resource (rep i32)))
    (core func $new (canon resource.new $thing))
    (core module $m
      (import "thing" "new" (func $new (param i32) (result i32)))
      (func $start (local $n i32)
        (loop $more
          (drop (call $new (i32.const 7)))
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br_if $more (i32.lt_u (local.get $n) (i32.const 9000)))))
      (start $start))
    (core instance (instantiate $m (with "thing" (instance (export "new" (func $new)))))))
  ;; MAKERS
  (core module $guest
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "execute") (param i32) (result i32) (i32.const 0)))
  (core instance $instance (instantiate $guest))
  (func (export "execute") (param "invocation" $invocation) (result $outcome)
    (canon lift (core func $instance "execute") (memory (core memory $instance "memory")) (realloc (core func $instance "realloc")))))
