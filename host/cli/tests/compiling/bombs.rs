//! Small components that are made to be expensive to compile.

/// A number as WebAssembly writes it.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return bytes;
        }
    }
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    [leb(bytes.len()).as_slice(), bytes].concat()
}

fn section(id: u8, bytes: &[u8]) -> Vec<u8> {
    [&[id], sized(bytes).as_slice()].concat()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [leb(items.len()), items.concat()].concat()
}

fn component(sections: &[u8]) -> Vec<u8> {
    [b"\0asm\x0d\0\x01\0", sections].concat()
}

/// A component with one module of these functions, all of the type that has so many results, of `i64`.
fn functions(results: usize, bodies: &[Vec<u8>]) -> Vec<u8> {
    let ty = [b"\x60\0".as_slice(), &leb(results), &vec![0x7e; results]].concat();
    let bodies: Vec<_> = bodies.iter().map(|body| sized(body)).collect();
    let module = [
        b"\0asm\x01\0\0\0".to_vec(),
        section(1, &list(&[ty])),
        section(3, &list(&vec![vec![0]; bodies.len()])),
        section(10, &list(&bodies)),
    ];
    component(&section(1, &module.concat()))
}

/// Components within components within components.
pub(crate) fn nested(levels: usize) -> Vec<u8> {
    (0..levels).fold(component(&[]), |inner, _| component(&section(4, &inner)))
}

/// Types of components within types of components.
pub(crate) fn nested_types(levels: usize) -> Vec<u8> {
    // A type of a component: 0x41, its declarations; a declaration of a type: 1, the type.
    let [open, ty] = [[0x41, 1].as_slice(), [1].as_slice()];
    let inner = (0..levels).fold(Vec::new(), |all, _| [all.as_slice(), open, ty].concat());
    component(&section(7, &list(&[[inner, vec![0x41, 0]].concat()])))
}

/// Functions that do nothing.
pub(crate) fn empty_functions(count: usize) -> Vec<u8> {
    functions(0, &vec![vec![0, 0x0b]; count])
}

/// Blocks within blocks within blocks.
pub(crate) fn nested_blocks(levels: usize) -> Vec<u8> {
    let body = [vec![0], [2, 0x40].repeat(levels), vec![0x0b; levels], vec![0x0b]];
    functions(0, &[body.concat()])
}

/// A function of `levels` blocks, and a `br_table` of `targets` targets in the innermost that leaves one of them with `values` values.
pub(crate) fn branches(values: usize, targets: usize, levels: usize) -> Vec<u8> {
    // Every block is of the function's own type.
    let blocks = [2, 0].repeat(levels);
    let constants = [0x42, 0].repeat(values);
    let labels: Vec<u8> = (0..=targets).flat_map(|target| leb(target % levels)).collect();
    let jump = [[0x41, 0, 0x0e].as_slice(), &leb(targets), &labels].concat();
    let body = [vec![0], blocks, constants, jump, vec![0x0b; levels + 1]];
    functions(values, &[body.concat()])
}

/// A function whose variables all live from its beginning to its end, through loops and conditions.
pub(crate) fn live_locals(locals: usize, loops: usize) -> Vec<u8> {
    let declared = [vec![1], leb(locals), vec![0x7e]].concat();
    // local = local + its neighbour, in the loop and as often as it likes.
    let step = |n: usize| {
        let (own, next) = (leb(n), leb((n + 7) % locals));
        [&[0x20], own.as_slice(), &[0x20], &next, &[0x7c, 0x21], &own].concat()
    };
    let steps: Vec<u8> = (0..locals).flat_map(step).collect();
    let once = [[3, 0x40].as_slice(), &steps, &[0x20, 0, 0xa7, 0x0d, 0, 0x0b]].concat();
    functions(0, &[[declared, once.repeat(loops), vec![0x0b]].concat()])
}

/// Functions that call themselves with as many values as may be.
pub(crate) fn wide_functions(count: usize) -> Vec<u8> {
    let body = [vec![0], [0x42, 0].repeat(1000), vec![0x0b]].concat();
    functions(1000, &vec![body; count])
}
