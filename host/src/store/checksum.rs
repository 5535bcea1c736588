//! Checksums that tell a damaged record from a written one.

use phasm_engine::time::Timestamp;

/// Returns the checksum of a record's body and of the position where it belongs.
pub(super) fn checksum(run: i64, first_seq: u64, events: u32, time: Timestamp, body: &[u8]) -> i64 {
    let mut hash = xxhash_rust::xxh3::Xxh3Default::new();
    hash.update(&run.to_le_bytes());
    hash.update(&first_seq.to_le_bytes());
    hash.update(&events.to_le_bytes());
    hash.update(&time.0.to_le_bytes());
    hash.update(body);
    hash.digest().cast_signed()
}
