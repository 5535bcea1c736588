//! Texts that core modules return of themselves, before they are components.

use wasmtime::{
    Caller, Config, Engine, Extern, Func, FuncType, Instance, Memory, Module, Store, StoreLimits,
    StoreLimitsBuilder, Val, ValType,
};

/// Instructions that a module may execute.
const FUEL: u64 = 1_000_000_000;
/// Bytes of memory that a module may have.
const MEMORY: usize = 256 << 20;
/// The longest text, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// WASI's number of the error that a descriptor is none.
const BAD_DESCRIPTOR: i32 = 8;

/// Why a module returned no text.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CoreTextError(String);

impl CoreTextError {
    fn of(error: &wasmtime::Error) -> Self {
        Self(format!("{error:#}"))
    }
}

/// Calls a function without parameters that returns where a text is, which ends with a zero byte.
///
/// The module has nothing: it finds no files, no arguments and no environment, what it writes is lost, and other imports do nothing.
///
/// # Errors
/// [`CoreTextError`], also when the module computes without an end.
pub fn core_text(module: &[u8], function: &str) -> Result<String, CoreTextError> {
    let call = || {
        let engine = Engine::new(Config::new().consume_fuel(true))?;
        let module = Module::new(&engine, module)?;
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY).instances(1).build();
        let mut store = Store::new(&engine, limits);
        store.limiter(|limits| limits);
        store.set_fuel(FUEL)?;
        let imports = module
            .imports()
            .filter_map(|import| Some((import.name().to_owned(), import.ty().func()?.clone())));
        let imports: Vec<Extern> = imports.map(|(name, of)| nothing(&mut store, &name, of).into()).collect();
        let instance = Instance::new(&mut store, &module, &imports)?;
        if let Ok(initialize) = instance.get_typed_func::<(), ()>(&mut store, "_initialize") {
            initialize.call(&mut store, ())?;
        }
        let at = instance.get_typed_func::<(), i32>(&mut store, function)?.call(&mut store, ())?;
        Ok::<_, wasmtime::Error>(
            instance.get_memory(&mut store, "memory").map(|memory| text(&memory, &store, at)),
        )
    };
    let found = call().map_err(|error| CoreTextError::of(&error))?;
    found.flatten().ok_or_else(|| CoreTextError(format!("`{function}` returned no text")))
}

fn text(memory: &Memory, store: &Store<StoreLimits>, at: i32) -> Option<String> {
    let at = usize::try_from(at.cast_unsigned()).ok()?;
    let rest = memory.data(store).get(at..)?;
    let size = rest.iter().take(MAX_TEXT).position(|byte| *byte == 0)?;
    String::from_utf8(rest.get(..size)?.to_vec()).ok()
}

/// A function of the host that has nothing to offer.
fn nothing(store: &mut Store<StoreLimits>, name: &str, of: FuncType) -> Func {
    let (ends, is_list, is_value) = (
        name == "proc_exit",
        matches!(name, "args_sizes_get" | "environ_sizes_get"),
        matches!(name, "args_get" | "environ_get" | "clock_time_get" | "random_get"),
    );
    let kinds: Vec<ValType> = of.results().collect();
    Func::new(store, of, move |mut caller: Caller<'_, StoreLimits>, parameters, results| {
        if ends {
            return Err(wasmtime::Error::msg("the module ends itself"));
        }
        if is_list {
            for place in parameters {
                write_zero(&mut caller, place);
            }
        }
        let errno = if is_list || is_value { 0 } else { BAD_DESCRIPTOR };
        for (result, kind) in results.iter_mut().zip(&kinds) {
            let is_errno = matches!(kind, ValType::I32);
            let zero = Val::default_for_ty(kind).filter(|_| !is_errno);
            *result = zero.unwrap_or(Val::I32(errno));
        }
        Ok(())
    })
}

fn write_zero(caller: &mut Caller<'_, StoreLimits>, place: &Val) {
    let memory = caller.get_export("memory").and_then(Extern::into_memory);
    if let (Some(memory), Some(place)) = (memory, place.i32()) {
        // A place outside of the memory is the module's own fault.
        let _ = memory.write(caller, place.cast_unsigned() as usize, &[0; 4]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &str) -> Vec<u8> {
        let text = format!(
            r#"(module
                (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
                (import "wasi_snapshot_preview1" "fd_prestat_get" (func $next (param i32 i32) (result i32)))
                (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
                (memory (export "memory") 1)
                (data (i32.const 8) "text\00")
                (data (i32.const 100) "\ff\ff\ff\ff\ff")
                (func (export "_initialize") (i32.store8 (i32.const 11) (i32.const 84)))
                (func (export "said") (result i32) {body}))"#
        );
        wat::parse_str(text).unwrap()
    }

    /// R-L149.
    #[test]
    fn a_module_says_a_text_and_has_nothing_else() {
        let said = |body: &str| core_text(&module(body), "said").map_err(|error| error.to_string());
        assert_eq!(said("(i32.const 8)"), Ok("texT".to_owned()));
        // No variables, and no directory: the text is found only so.
        let asks = "(if (result i32) (i32.and (i32.eqz (call $sizes (i32.const 100) (i32.const 104)))
            (i32.and (i32.eqz (i32.load (i32.const 100))) (i32.eq (call $next (i32.const 3) (i32.const 0)) (i32.const 8))))
            (then (i32.const 8)) (else (i32.const 200)))";
        assert_eq!(said(asks), Ok("texT".to_owned()));
        for (body, why) in [
            ("(loop (br 0)) (i32.const 8)", "fuel"),
            ("(unreachable)", "unreachable"),
            ("(call $exit (i32.const 1)) (i32.const 8)", "the module ends itself"),
            ("(i32.const -1)", "returned no text"),
            (
                "(drop (memory.grow (i32.const 30000))) (i32.store8 (i32.const 8) (i32.const 255)) (i32.const 8)",
                "returned no text",
            ),
        ] {
            let error = said(body).unwrap_err();
            assert!(error.contains(why), "{body}: {error}");
        }
        assert!(core_text(&module("(i32.const 8)"), "other").is_err());
        assert!(core_text(b"junk", "said").is_err());
    }
}
