UPDATE format SET version = 6;

-- How much is kept of each run, of its records and its logs; and of a namespace, in parts that no two connections write at the same time.
ALTER TABLE runs ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE runs SET bytes = coalesce((SELECT sum(octet_length(j.body)) FROM journal j WHERE j.run = number), 0)
    + coalesce((SELECT sum(octet_length(l.text)) FROM logs l WHERE l.run = number), 0);
CREATE TABLE stored (
    namespace text COLLATE "C" NOT NULL,
    slot bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (namespace, slot)
) WITH (fillfactor = 70);
INSERT INTO stored SELECT namespace, 0, sum(bytes) FROM runs GROUP BY namespace;

CREATE FUNCTION count_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored AS s (namespace, slot, bytes) VALUES (OLD.namespace, pg_backend_pid() % 64, -OLD.bytes)
    ON CONFLICT (namespace, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE TRIGGER gone_runs AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION count_gone();

-- Appends records of many runs. A chain is what one run gets: records that follow each other, and where the run stands after
-- them. Each is taken or refused by itself; a row is returned for each that was refused, with what stood in its way.
CREATE OR REPLACE FUNCTION append_records(
    c_run_id text[], c_epoch bigint[], c_first bigint[], c_next bigint[], c_phase text[], c_finished bigint[], c_open boolean[],
    c_host text[], c_workflow text[], c_namespace text[], c_priority bigint[], c_submitted bigint[], c_key text[],
    c_document text[], c_labels text[], c_rest boolean[], c_until bigint[],
    r_chain bigint[], r_first bigint[], r_events bigint[], r_time bigint[], r_body bytea[], r_checksum bigint[],
    a_chain bigint[], a_letter bigint[], a_body bytea[],
    d_digest text[], d_bytes bytea[], n_document text[], n_digest text[], n_bytes bytea[]
) RETURNS TABLE (chain bigint, epoch bigint, seq bigint, holder text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    -- The run's number for each chain, 0 for one that is refused.
    v_runs bigint[];
    -- The bytes of its records.
    v_bytes bigint[];
BEGIN
    SELECT array_agg(b.bytes ORDER BY b.chain) INTO v_bytes FROM (
        SELECT r.chain, sum(octet_length(r.body))::bigint AS bytes FROM unnest(r_chain, r_body) AS r (chain, body) GROUP BY r.chain) AS b;
    IF cardinality(d_digest) > 0 THEN PERFORM keep_documents(d_digest, d_bytes, n_document, n_digest, n_bytes); END IF;
    WITH given AS MATERIALIZED (
        SELECT * FROM unnest(c_run_id, c_epoch, c_first, c_next, c_phase, c_finished, c_open, c_host, c_workflow,
            c_namespace, c_priority, c_submitted, c_key, c_document, c_labels, c_rest, c_until) WITH ORDINALITY
        AS g (run_id, epoch, first, next, phase, finished, open, host, workflow, namespace, priority, submitted, key, document,
            labels, rest, until, chain)
    ), advanced AS (
        UPDATE runs SET seq = g.next, phase = g.phase, finished_at = g.finished, open = g.open,
            rest = g.rest, rests_until = g.until, bytes = runs.bytes + v_bytes[g.chain], owner = CASE WHEN g.open THEN runs.owner END, wake_at = CASE WHEN g.open THEN runs.wake_at END
        FROM given g
        WHERE runs.run_id = g.run_id AND runs.epoch = g.epoch AND runs.seq = g.first
        RETURNING runs.run_id, runs.number, runs.namespace, v_bytes[g.chain] AS grown
    ), created AS (
        INSERT INTO runs (run_id, workflow, namespace, priority, submitted_at, key, phase, finished_at, open, seq, epoch, owner,
            document, labels, rest, rests_until, bytes)
        SELECT g.run_id, g.workflow, g.namespace, g.priority, g.submitted, g.key, g.phase, g.finished, g.open, g.next,
            g.epoch, CASE WHEN g.open THEN g.host END, (SELECT d.id FROM documents d WHERE d.digest = g.document), g.labels,
            g.rest, g.until, v_bytes[g.chain]
        FROM given g
        WHERE g.first = 0 AND NOT EXISTS (SELECT FROM runs r WHERE r.run_id = g.run_id)
            AND (g.key IS NULL OR NOT EXISTS (SELECT FROM runs r WHERE r.namespace = g.namespace AND r.key = g.key))
        ORDER BY g.chain
        ON CONFLICT DO NOTHING
        RETURNING run_id, number, namespace, bytes AS grown
    ), counted AS (
        INSERT INTO stored AS s (namespace, slot, bytes)
        SELECT a.namespace, pg_backend_pid() % 64, sum(a.grown)
        FROM (SELECT namespace, grown FROM advanced UNION ALL SELECT namespace, grown FROM created) AS a
        GROUP BY a.namespace ORDER BY a.namespace
        ON CONFLICT (namespace, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes
    ), judged AS (
        SELECT max(chain) AS chain, max(number) AS number FROM (
            SELECT run_id, chain, 0 AS number FROM given
            UNION ALL SELECT run_id, 0, number FROM advanced
            UNION ALL SELECT run_id, 0, number FROM created
        ) AS both_sides GROUP BY run_id
    )
    SELECT array_agg(number ORDER BY chain) INTO v_runs FROM judged;

    INSERT INTO journal (run, first_seq, events, time, body, checksum)
    SELECT v_runs[r.chain], r.first, r.events, r.time, r.body, r.checksum
    FROM unnest(r_chain, r_first, r_events, r_time, r_body, r_checksum) AS r (chain, first, events, time, body, checksum)
    WHERE v_runs[r.chain] > 0;

    IF 0 = ANY (c_first) THEN
        INSERT INTO labels (key, value, run)
        SELECT l.key, l.value, v_runs[g.chain] FROM unnest(c_labels) WITH ORDINALITY AS g (labels, chain)
        CROSS JOIN LATERAL json_each_text(g.labels::json) AS l
        WHERE g.labels IS NOT NULL AND v_runs[g.chain] > 0 ON CONFLICT DO NOTHING;
        INSERT INTO hosts (host, until)
        SELECT DISTINCT h.host, 0 FROM unnest(c_host) AS h (host) WHERE h.host IS NOT NULL ORDER BY h.host
        ON CONFLICT DO NOTHING;
    END IF;
    IF cardinality(a_chain) > 0 THEN
        PERFORM leave_replies(
            (SELECT array_agg(v_runs[a.chain] ORDER BY a.place) FROM unnest(a_chain) WITH ORDINALITY AS a (chain, place)),
            a_letter, a_body);
    END IF;
    IF false = ANY (c_open) THEN
        -- Nobody reads the mail of a run that has ended.
        UPDATE letters SET reply = '' FROM unnest(c_open) WITH ORDINALITY AS c (open, chain)
        WHERE NOT c.open AND letters.run = v_runs[c.chain] AND letters.reply IS NULL;
        IF FOUND THEN PERFORM tell(); END IF;
    END IF;
    IF 0 = ANY (v_runs) THEN
        -- What was kept for runs that are not to be.
        PERFORM collect_document(d.id) FROM documents d WHERE d.digest IN (
            SELECT g.document FROM unnest(c_document) WITH ORDINALITY AS g (document, chain) WHERE v_runs[g.chain] = 0);
        RETURN QUERY SELECT g.chain, r.epoch, r.seq, k.run_id
        FROM unnest(c_run_id, c_namespace, c_key) WITH ORDINALITY AS g (run_id, namespace, key, chain)
        LEFT JOIN runs r ON r.run_id = g.run_id
        LEFT JOIN runs k ON k.namespace = g.namespace AND k.key = g.key
        WHERE v_runs[g.chain] = 0;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION keep_log(
    p_run_id text, p_epoch bigint, p_task bigint, p_attempt bigint, p_dispatch bigint, p_cut bigint, p_text bytea
) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
    v_namespace text;
    v_grown bigint;
BEGIN
    SELECT number, namespace INTO v_run, v_namespace FROM runs WHERE run_id = p_run_id AND epoch = p_epoch FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM runs WHERE run_id = p_run_id) THEN 'fenced' ELSE 'none' END;
    END IF;
    v_grown := octet_length(p_text) - coalesce((SELECT octet_length(l.text) FROM logs l
        WHERE l.run = v_run AND l.task = p_task AND l.attempt = p_attempt AND l.dispatch = p_dispatch), 0);
    UPDATE runs SET bytes = bytes + v_grown WHERE number = v_run;
    INSERT INTO stored AS s (namespace, slot, bytes) VALUES (v_namespace, pg_backend_pid() % 64, v_grown)
    ON CONFLICT (namespace, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;
    INSERT INTO logs (run, task, attempt, dispatch, cut, text)
    VALUES (v_run, p_task, p_attempt, p_dispatch, p_cut, p_text)
    ON CONFLICT (run, task, attempt, dispatch) DO UPDATE SET cut = excluded.cut, text = excluded.text;
    RETURN 'done';
END $$;

CREATE FUNCTION note_run(p_run_id text, p_epoch bigint, p_note text, p_noted_at bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    UPDATE runs SET note = p_note, noted_at = p_noted_at WHERE run_id = p_run_id AND epoch = p_epoch;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM runs WHERE run_id = p_run_id) THEN 'fenced' ELSE 'none' END;
    END IF;
    RETURN 'done';
END $$;

-- What whoever serves the store has left about its tenants.
CREATE TABLE tenants (text text NOT NULL);
CREATE FUNCTION keep_tenants(p_text text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE tenants IN EXCLUSIVE MODE;
    DELETE FROM tenants;
    INSERT INTO tenants VALUES (p_text);
END $$;
