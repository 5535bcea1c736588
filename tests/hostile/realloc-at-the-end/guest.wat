;; Offers room of which eight bytes are there.
(core module $guest
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0xfff8))
  (func (export "execute") (param i32) (result i32) (i32.const 0))
  (func (export "after") (param i32)))
