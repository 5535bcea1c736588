;;! does = "Asks for random bytes without end, a mebibyte at a time."
;;! comes = "They take its own memory, which ends."
;;! copies = 2
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["memory limit of 64 MiB reached"]
;;! grown-mib = 160
;; Asks for a mebibyte of random bytes again and again; what comes is never given back, so that memory ends it.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "wasi" "get-random-bytes" (func $random (param i64 i32)))
  (func (export "execute") (param i32) (result i32)
    (loop $more
      (call $random (i64.const 1048576) (i32.const 400))
      (br $more))
    (unreachable)))
