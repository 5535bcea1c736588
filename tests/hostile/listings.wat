;;! does = "Lists a directory of 5 000 files, 900 times at once."
;;! comes = "Names are read as they are asked for, and listings count as descriptors."
;;!
;;! [setup]
;;! dirs = { "data" = 5000 }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;!
;;! [expect]
;;! codes = [8]
;;! message = ["refused: more than 64 files, directories and streams open at once"]
;;! grown-mib = 24
;; Lists a large directory a thousand times at once. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "list" (func $list (param i32 i32)))
  (import "wasi" "next-entry" (func $next-entry (param i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (block $refused (loop $more
      (call $list (local.get $dir) (i32.const 408))
      (br_if $refused (i32.load8_u (i32.const 408)))
      (call $next-entry (i32.load (i32.const 412)) (i32.const 416))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $n) (i32.const 900)))))
    (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 412))))
    (i32.const 0)))
