-- Store format 2: checksums of rows, and the oldest format whose versions may write.

-- Functions and triggers of format 1, which no host may call any more: later functions have the number of their format in their names.
DO $$
DECLARE
    v_old record;
BEGIN
    DROP TRIGGER IF EXISTS gone_runs ON runs;
    DROP TRIGGER IF EXISTS claimed_runs ON runs;
    FOR v_old IN
        SELECT p.oid::regprocedure AS name FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.proname IN (
            'clock', 'tell', 'tell_entries', 'tell_shared', 'leave_replies', 'keep_notices', 'keep_documents', 'collect_document',
            'append_records', 'gone_owners', 'withdraw_offers', 'forget_host', 'collect_hosts', 'sweep', 'claim_runs', 'claim_run',
            'release_run', 'leave_run', 'note_run', 'next_due', 'heartbeat', 'post_letter', 'reply_letters', 'keep_log',
            'abandon_run', 'delete_run', 'count_gone', 'keep_tenants', 'name_texts', 'write_entry', 'change_entry', 'remove_entry',
            'fire_run', 'settle_notice', 'void_offers', 'share_work')
    LOOP
        EXECUTE format('DROP FUNCTION %s', v_old.name);
    END LOOP;
END $$;

-- A version may use the store if it knows this format or a later one. The column stays as it is in all later formats.
ALTER TABLE store_format ADD COLUMN minimum_reader bigint;

-- The part of a run that never changes, the part that each record sets, and its lease: each part has one writer.
ALTER TABLE runs ADD COLUMN head_checksum bigint, ADD COLUMN state_checksum bigint, ADD COLUMN lease_checksum bigint,
    -- Short reason for the run's end, or a remark on it.
    ADD COLUMN remark text,
    -- What a run takes is counted when it is deleted.
    DROP COLUMN bytes;
ALTER TABLE letters ADD COLUMN checksum bigint;
ALTER TABLE logs ADD COLUMN checksum bigint;
ALTER TABLE entries ADD COLUMN checksum bigint;
ALTER TABLE notices ADD COLUMN checksum bigint;
ALTER TABLE tenants ADD COLUMN checksum bigint;

-- Checksums. They stay as they are in all later formats.
CREATE FUNCTION row_checksum(p_row text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT ('x' || left(encode(sha256(convert_to(p_row, 'UTF8')), 'hex'), 16))::bit(64)::bigint;
$$;
CREATE FUNCTION checksum_of_head(
    p_number bigint, p_run_id text, p_workflow text, p_namespace text, p_priority bigint, p_submitted_at bigint, p_key text,
    p_labels text, p_document bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT row_checksum(ROW(p_number, p_run_id, p_workflow, p_namespace, p_priority, p_submitted_at, p_key, p_labels, p_document)::text);
$$;
CREATE FUNCTION checksum_of_state(
    p_number bigint, p_seq bigint, p_phase text, p_finished_at bigint, p_open boolean, p_rest boolean, p_rests_until bigint,
    p_remark text
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT row_checksum(ROW(p_number, p_seq, p_phase, p_finished_at, p_open, p_rest, p_rests_until, p_remark)::text);
$$;
CREATE FUNCTION checksum_of_lease(
    p_number bigint, p_epoch bigint, p_owner text, p_wake_at bigint, p_note text, p_noted_at bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT row_checksum(ROW(p_number, p_epoch, p_owner, p_wake_at, p_note, p_noted_at)::text);
$$;
CREATE FUNCTION checksum_of_letter(p_run bigint, p_body bytea, p_reply bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT row_checksum(ROW(p_run, encode(sha256(p_body), 'hex'), encode(sha256(p_reply), 'hex'))::text);
$$;
CREATE FUNCTION checksum_of_log(
    p_run bigint, p_task bigint, p_attempt bigint, p_dispatch bigint, p_cut bigint, p_text bytea
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT row_checksum(ROW(p_run, p_task, p_attempt, p_dispatch, p_cut, encode(sha256(p_text), 'hex'))::text);
$$;
CREATE FUNCTION checksum_of_entry(
    p_shelf text, p_namespace text, p_name text, p_revision bigint, p_due bigint, p_body text
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT row_checksum(ROW(p_shelf, p_namespace, p_name, p_revision, p_due, p_body)::text);
$$;
CREATE FUNCTION checksum_of_notice(
    p_run_id text, p_seq bigint, p_endpoint text, p_revision bigint, p_due bigint, p_body text
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT row_checksum(ROW(p_run_id, p_seq, p_endpoint, p_revision, p_due, p_body)::text);
$$;

UPDATE runs SET
    head_checksum = checksum_of_head(number, run_id, workflow, namespace, priority, submitted_at, key, labels, document),
    state_checksum = checksum_of_state(number, seq, phase, finished_at, open, rest, rests_until, remark),
    lease_checksum = checksum_of_lease(number, epoch, owner, wake_at, note, noted_at);
UPDATE letters SET checksum = checksum_of_letter(run, body, reply);
UPDATE logs SET checksum = checksum_of_log(run, task, attempt, dispatch, cut, text);
UPDATE entries SET checksum = checksum_of_entry(shelf, namespace, name, revision, due, body);
UPDATE notices SET checksum = checksum_of_notice(run_id, seq, endpoint, revision, due, body);
UPDATE tenants SET checksum = row_checksum(ROW(text)::text);

-- Whether the parts of a run that its claims do not write anew are as they were written.
CREATE FUNCTION is_sound(p_run runs) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_run.head_checksum IS NOT DISTINCT FROM checksum_of_head(p_run.number, p_run.run_id, p_run.workflow, p_run.namespace,
            p_run.priority, p_run.submitted_at, p_run.key, p_run.labels, p_run.document)
        AND p_run.state_checksum IS NOT DISTINCT FROM checksum_of_state(p_run.number, p_run.seq, p_run.phase, p_run.finished_at,
            p_run.open, p_run.rest, p_run.rests_until, p_run.remark);
$$;
