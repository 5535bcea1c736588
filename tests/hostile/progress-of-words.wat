;;! does = "Tells its progress in a kilobyte of words, without end."
;;! comes = "Stopped at its log limit: words count, wherever they are said."
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["log over its limit of 1 MiB"]
;; Talks instead of working.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "host" "progress" (func $progress (param i32 f64 i32 i32)))
  (func (export "execute") (param i32) (result i32)
    (loop $more
      (call $progress (i32.const 0) (f64.const 0) (i32.const 0) (i32.const 1024))
      (br $more))
    (unreachable)))
