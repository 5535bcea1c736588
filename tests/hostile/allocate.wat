;;! does = "Grows its memory page by page, whatever the answer."
;;! comes = "Stopped at its memory limit."
;;! copies = 8
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["memory limit of 64 MiB reached"]
;;! grown-mib = 640
;; Works, then grows its memory page by page, whatever the answer.
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "libc" "work" (func $work (param i32)))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (data (i32.const 200) "started")
  (func (export "execute") (param $invocation i32) (result i32)
    (call $log (i32.const 2) (i32.const 200) (i32.const 7))
    (call $work (local.get $invocation))
    (loop $for-ever
      (drop (memory.grow (i32.const 1)))
      (br $for-ever))
    (unreachable)))
