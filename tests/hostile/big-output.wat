;;! does = "Returns one output of 100 MiB."
;;! comes = "Stopped before the host copies them."
;;!
;;! [limits]
;;! memory = "256 MiB"
;;!
;;! [expect]
;;! codes = [3]
;;! message = ["output over its limit of 8 MiB"]
;;! grown-mib = 200
;; Works, then returns one output of 100 MiB (of its 101 MiB of memory).
(core module $guest
  (import "libc" "memory" (memory 1))
  (import "libc" "work" (func $work (param i32)))
  (import "host" "log" (func $log (param i32 i32 i32)))
  (data (i32.const 200) "started")
  (func (export "execute") (param $invocation i32) (result i32)
    (call $log (i32.const 2) (i32.const 200) (i32.const 7))
    (call $work (local.get $invocation))
    (drop (memory.grow (i32.const 1616)))
    (memory.fill (i32.const 4096) (i32.const 49) (i32.const 104857600))
    (i32.store (i32.const 100) (i32.const 200))
    (i32.store (i32.const 104) (i32.const 1))
    (i32.store (i32.const 108) (i32.const 4096))
    (i32.store (i32.const 112) (i32.const 104857600))
    (i32.store (i32.const 12) (i32.const 100))
    (i32.store (i32.const 16) (i32.const 1))
    (i32.const 0)))
