;;! does = "Lists a directory, and makes another one there for each name it gets."
;;! comes = "Refused over the quota: a list that grows has an end."
;;!
;;! [setup]
;;! files = { "data/a" = "" }
;;!
;;! [[grants.guest.dirs]]
;;! host = "data"
;;! guest = "/data"
;;! mode = "rw"
;;! max-files = 64
;;!
;;! [expect]
;;! codes = [8]
;;! message = ["refused: quota of 64 files"]
;; Makes a directory for each name of a list. Its code is 2 + the error it got.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-directories" (func $get-directories (param i32)))
  (import "wasi" "make-dir" (func $make-dir (param i32 i32 i32 i32)))
  (import "wasi" "list" (func $list (param i32 i32)))
  (import "wasi" "next-entry" (func $next-entry (param i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (local $dir i32) (local $list i32) (local $n i32)
    (call $get-directories (i32.const 400))
    (local.set $dir (i32.load (i32.load (i32.const 400))))
    (call $list (local.get $dir) (i32.const 408))
    (local.set $list (i32.load (i32.const 412)))
    (loop $more
      (call $next-entry (local.get $list) (i32.const 416))
      ;; `aa`, `ba`, …, `ab`, …
      (i32.store8 (i32.const 500) (i32.add (i32.const 97) (i32.rem_u (local.get $n) (i32.const 26))))
      (i32.store8 (i32.const 501) (i32.add (i32.const 97) (i32.div_u (local.get $n) (i32.const 26))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (call $make-dir (local.get $dir) (i32.const 500) (i32.const 2) (i32.const 408))
      (br_if $more (i32.eqz (i32.load8_u (i32.const 408)))))
    ;; 2 + the error, or 0
    (if (i32.load8_u (i32.const 408)) (then
      (i32.store (i32.const 0) (i32.add (i32.const 2) (i32.load8_u (i32.const 409))))))
    (i32.const 0)))
