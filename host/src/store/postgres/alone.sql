UPDATE format SET version = 8;

-- As append_records for one record of a run that is there, without replies. False if it was not taken: append_records says why.
CREATE FUNCTION append_next(
    p_run_id text, p_epoch bigint, p_next bigint, p_phase text, p_finished bigint, p_open boolean, p_rest boolean, p_until bigint,
    p_events bigint, p_time bigint, p_body bytea, p_checksum bigint, p_first bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_run bigint;
    v_namespace text;
BEGIN
    UPDATE runs SET seq = p_next, phase = p_phase, finished_at = p_finished, open = p_open, rest = p_rest, rests_until = p_until,
        bytes = bytes + octet_length(p_body), owner = CASE WHEN p_open THEN owner END, wake_at = CASE WHEN p_open THEN wake_at END
    WHERE run_id = p_run_id AND epoch = p_epoch AND seq = p_first
    RETURNING number, namespace INTO v_run, v_namespace;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO stored AS s (namespace, slot, bytes) VALUES (v_namespace, pg_backend_pid() % 64, octet_length(p_body))
    ON CONFLICT (namespace, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;
    INSERT INTO journal (run, first_seq, events, time, body, checksum)
    VALUES (v_run, p_first, p_events, p_time, p_body, p_checksum);
    IF NOT p_open THEN
        -- Nobody reads the mail of a run that has ended.
        UPDATE letters SET reply = '' WHERE run = v_run AND reply IS NULL;
        IF FOUND THEN PERFORM tell(); END IF;
    END IF;
    RETURN true;
END $$;

-- As append_records for the first record of a run without labels, whose document is kept. False if it was not taken.
CREATE FUNCTION append_first(
    p_run_id text, p_epoch bigint, p_next bigint, p_phase text, p_finished bigint, p_open boolean, p_rest boolean, p_until bigint,
    p_events bigint, p_time bigint, p_body bytea, p_checksum bigint,
    p_host text, p_workflow text, p_namespace text, p_priority bigint, p_submitted bigint, p_key text, p_document text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_document bigint;
    v_run bigint;
BEGIN
    -- Whoever collects it waits for this transaction, or this one for them.
    SELECT id INTO v_document FROM documents WHERE digest = p_document FOR KEY SHARE;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO runs (run_id, workflow, namespace, priority, submitted_at, key, phase, finished_at, open, seq, epoch, owner,
        document, rest, rests_until, bytes)
    VALUES (p_run_id, p_workflow, p_namespace, p_priority, p_submitted, p_key, p_phase, p_finished, p_open, p_next, p_epoch,
        CASE WHEN p_open THEN p_host END, v_document, p_rest, p_until, octet_length(p_body))
    ON CONFLICT DO NOTHING RETURNING number INTO v_run;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO stored AS s (namespace, slot, bytes) VALUES (p_namespace, pg_backend_pid() % 64, octet_length(p_body))
    ON CONFLICT (namespace, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;
    INSERT INTO journal (run, first_seq, events, time, body, checksum)
    VALUES (v_run, 0, p_events, p_time, p_body, p_checksum);
    INSERT INTO hosts (host, until) VALUES (p_host, 0) ON CONFLICT DO NOTHING;
    RETURN true;
END $$;
