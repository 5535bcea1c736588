// Stands in for `wasi:http` where there is none. Tests set a function instead: `call(execute, inputs, { http })`.
export default {};
