-- Store format 2: checksums of rows, and the oldest format whose versions may write.

-- A version may use the store if it knows this format or a later one. The table stays as it is in all later formats.
CREATE TABLE readers (minimum INTEGER NOT NULL) STRICT;
INSERT INTO readers VALUES (2);

-- The part of a run that never changes, the part that each record sets, and its lease: each part has one writer.
ALTER TABLE runs ADD COLUMN head_checksum INTEGER;
ALTER TABLE runs ADD COLUMN state_checksum INTEGER;
ALTER TABLE runs ADD COLUMN lease_checksum INTEGER;
-- What a run takes is counted when it is deleted.
ALTER TABLE runs DROP COLUMN bytes;
-- Short reason for the run's end, or a remark on it.
ALTER TABLE runs ADD COLUMN remark TEXT;
ALTER TABLE letters ADD COLUMN checksum INTEGER;
ALTER TABLE logs ADD COLUMN checksum INTEGER;
ALTER TABLE entries ADD COLUMN checksum INTEGER;
ALTER TABLE notices ADD COLUMN checksum INTEGER;
ALTER TABLE tenants ADD COLUMN checksum INTEGER;
UPDATE runs SET
    head_checksum = row_checksum(number, run_id, workflow, namespace, priority, submitted_at, key, labels, document),
    state_checksum = row_checksum(number, seq, last_record, phase, finished_at, open, rest, rests_until, remark),
    lease_checksum = row_checksum(number, epoch, owner, wake_at, note, noted_at);
UPDATE letters SET checksum = row_checksum(run, body, reply);
UPDATE logs SET checksum = row_checksum(run, task, attempt, dispatch, cut, text);
UPDATE entries SET checksum = row_checksum(shelf, namespace, name, revision, due, body);
UPDATE notices SET checksum = row_checksum(run_id, seq, endpoint, revision, due, body);
UPDATE tenants SET checksum = row_checksum(text);
