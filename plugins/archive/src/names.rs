//! Names of entries: those that lead out of a directory are refused.

/// Maximum number of bytes of a name.
const MAX_BYTES: usize = 1024;
/// Maximum number of directories in a name.
const MAX_PARTS: usize = 64;

/// Returns the name without `./` and a slash at its end, or why it is unsafe. The directory itself has an empty name.
pub(crate) fn safe(name: &str) -> Result<String, &'static str> {
    if name.len() > MAX_BYTES {
        return Err("its name has more than 1024 bytes");
    }
    if name.starts_with('/') {
        return Err("its name is an absolute path");
    }
    // Other systems take them for separators and drives.
    if name.contains(['\\', ':']) {
        return Err("its name has a backslash or a colon");
    }
    if name.chars().any(char::is_control) {
        return Err("its name has a control character");
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err("its name has `..`");
    }
    if parts.len() > MAX_PARTS {
        return Err("its name has more than 64 directories");
    }
    Ok(parts.join("/"))
}
