//! The order in which commands find runs, for help and messages.

/// The order, as text that `concat!` takes.
macro_rules! store_order {
    () => {
        "`--server` or `--store`; PHASM_SERVER; PHASM_STORE; the server that serves the default store; the default store, runs.db in the \
         user's data directory"
    };
}

pub(crate) use store_order;

/// The order as a sentence, for messages.
pub(crate) const ORDER: &str = concat!("The order is: ", store_order!());
