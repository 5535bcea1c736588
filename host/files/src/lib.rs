//! Files that Phasm opens by a rule: regular ones, of a bounded size, and not of another user where their content is believed,
//! changed or quoted.

mod own;
mod regular;
mod size;

pub use self::{
    own::{
        FileUse, is_foreign_link, is_trusted_owner, is_writable_by_others, open_own, read_adjacent_text,
        read_own_text, read_trusted,
    },
    regular::{open_regular, read_regular, read_regular_text},
    size::Size,
};
