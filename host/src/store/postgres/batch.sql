UPDATE format SET version = 9;

-- Those that are open are found by the number, as they are listed.
DROP INDEX open_runs;
CREATE INDEX open_runs ON runs (number) WHERE open;

-- As much room as there are rows: one transaction advances all runs of a page, and each finds a place beside itself, without new entries
-- in every index.
ALTER TABLE runs SET (fillfactor = 45);

-- Whoever claims a run, or gives it back, says what becomes of its note. A trigger before each row had every record lock the row first
-- that it was about to change, and forget a note that a host had left on its own run.
DROP TRIGGER forget_note ON runs;
DROP FUNCTION forget_note;

-- What is looked for is put down before where it is looked for: a join could as well begin with all runs that are open, and does where the
-- server has not counted them yet.
CREATE OR REPLACE FUNCTION claim_runs(p_host text, p_now bigint, p_clock bigint, p_limit bigint, p_except text[])
RETURNS TABLE (
    run_id text, workflow text, namespace text, priority bigint, submitted_at bigint, key text, labels text, epoch bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_clock bigint := coalesce(p_clock, clock());
    v_gone text[] := ARRAY(SELECT h.host FROM hosts h WHERE h.until <= v_clock AND h.host <> p_host);
BEGIN
    INSERT INTO hosts (host, until) VALUES (p_host, 0) ON CONFLICT DO NOTHING;
    -- What rests is nobody's, once its host is gone.
    UPDATE runs SET owner = NULL, epoch = runs.epoch + 1, wake_at = rests_until
    WHERE number IN (
        SELECT r.number FROM runs r WHERE r.owner = ANY (v_gone) AND r.rest IS NOT NULL LIMIT 10000 FOR UPDATE SKIP LOCKED);
    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT number, wake_at AS at, priority FROM runs
        WHERE wake_at <= p_now AND run_id <> ALL (p_except)
        ORDER BY wake_at, priority DESC, number LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), asked AS MATERIALIZED (
        SELECT number, 0::bigint AS at, priority FROM runs
        WHERE open AND owner IS NULL AND run_id <> ALL (p_except)
            AND number = ANY (ARRAY(SELECT DISTINCT run FROM letters WHERE reply IS NULL))
        ORDER BY priority DESC, number LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), orphaned AS MATERIALIZED (
        SELECT r.number, (SELECT h.until FROM hosts h WHERE h.host = r.owner) AS at, r.priority FROM runs r
        WHERE r.owner = ANY (v_gone) AND r.run_id <> ALL (p_except)
        ORDER BY at, r.priority DESC, r.number LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), chosen AS MATERIALIZED (
        SELECT number, min(at) AS at FROM (
            SELECT * FROM due UNION ALL SELECT * FROM asked UNION ALL SELECT * FROM orphaned
        ) AS found GROUP BY number, priority ORDER BY min(at), priority DESC, number LIMIT p_limit
    ), lent AS (
        UPDATE runs SET owner = p_host, epoch = runs.epoch + 1, wake_at = NULL, note = NULL FROM chosen
        WHERE runs.number = chosen.number RETURNING runs.*, chosen.at
    )
    SELECT l.run_id, l.workflow, l.namespace, l.priority, l.submitted_at, l.key, l.labels, l.epoch
    FROM lent l ORDER BY l.at, l.priority DESC, l.number;
END $$;

CREATE OR REPLACE FUNCTION next_due(p_host text, p_now bigint, p_clock bigint, p_except text[]) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_clock bigint := coalesce(p_clock, clock());
BEGIN
    RETURN least(
        (SELECT wake_at FROM runs WHERE wake_at IS NOT NULL AND run_id <> ALL (p_except)
            ORDER BY wake_at, priority DESC, number LIMIT 1),
        (SELECT 0 FROM runs WHERE open AND owner IS NULL AND run_id <> ALL (p_except)
            AND number = ANY (ARRAY(SELECT DISTINCT run FROM letters WHERE reply IS NULL)) LIMIT 1),
        (SELECT min(h.until - v_clock + p_now) FROM hosts h WHERE h.host <> p_host AND (h.until > v_clock
            OR EXISTS (SELECT FROM runs WHERE owner = h.host AND run_id <> ALL (p_except)))));
END $$;

CREATE OR REPLACE FUNCTION claim_run(p_host text, p_run_id text, p_clock bigint)
RETURNS TABLE (
    verdict text, run_id text, workflow text, namespace text, priority bigint, submitted_at bigint, key text, labels text, epoch bigint,
    owner text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run runs;
    v_verdict text := 'leased';
BEGIN
    SELECT * INTO v_run FROM runs WHERE run_id = p_run_id FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    IF NOT v_run.open THEN
        v_verdict := 'closed';
    ELSIF v_run.owner <> p_host
        AND EXISTS (SELECT FROM hosts WHERE host = v_run.owner AND until > coalesce(p_clock, clock())) THEN
        v_verdict := 'held';
    ELSIF v_run.owner IS DISTINCT FROM p_host THEN
        INSERT INTO hosts (host, until) VALUES (p_host, 0) ON CONFLICT DO NOTHING;
        UPDATE runs SET owner = p_host, epoch = v_run.epoch + 1, wake_at = NULL, note = NULL WHERE number = v_run.number
        RETURNING * INTO v_run;
    END IF;
    RETURN QUERY SELECT v_verdict, v_run.run_id, v_run.workflow, v_run.namespace, v_run.priority, v_run.submitted_at, v_run.key,
        v_run.labels, v_run.epoch, v_run.owner;
END $$;

CREATE OR REPLACE FUNCTION release_run(p_run_id text, p_epoch bigint, p_wake_at bigint) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
BEGIN
    UPDATE runs SET owner = NULL, wake_at = CASE WHEN open THEN p_wake_at END, note = NULL
    WHERE run_id = p_run_id AND epoch = p_epoch RETURNING number INTO v_run;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM runs WHERE run_id = p_run_id) THEN 'fenced' ELSE 'none' END;
    END IF;
    -- Also for a time to come: whoever released it may not be there by then.
    IF p_wake_at IS NOT NULL OR EXISTS (SELECT FROM letters WHERE run = v_run AND reply IS NULL) THEN
        PERFORM tell();
    END IF;
    RETURN 'done';
END $$;

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
    v_runs bigint[] := array_fill(0::bigint, ARRAY[cardinality(c_run_id)]);
    -- The bytes of its records.
    v_bytes bigint[];
    -- Chains, their runs' numbers (0 where one is refused) and namespaces.
    v_chains bigint[];
    v_numbers bigint[];
    v_spaces text[];
    v_ended bigint[];
BEGIN
    IF cardinality(r_chain) = cardinality(c_run_id) THEN
        v_bytes := ARRAY(SELECT octet_length(r.body)::bigint FROM unnest(r_body) AS r (body));
    ELSE
        v_bytes := ARRAY(SELECT sum(octet_length(r.body))::bigint FROM unnest(r_chain, r_body) AS r (chain, body)
            GROUP BY r.chain ORDER BY r.chain);
    END IF;
    IF 0 < ANY (c_first) THEN
        WITH advanced AS (
            UPDATE runs SET seq = g.next, phase = g.phase, finished_at = g.finished, open = g.open, rest = g.rest,
                rests_until = g.until, bytes = runs.bytes + g.bytes, owner = CASE WHEN g.open THEN runs.owner END,
                wake_at = CASE WHEN g.open THEN runs.wake_at END
            FROM unnest(c_run_id, c_epoch, c_first, c_next, c_phase, c_finished, c_open, c_rest, c_until, v_bytes) WITH ORDINALITY
                AS g (run_id, epoch, first, next, phase, finished, open, rest, until, bytes, chain)
            WHERE g.first > 0 AND runs.run_id = g.run_id AND runs.epoch = g.epoch AND runs.seq = g.first
            RETURNING g.chain, runs.number, runs.namespace
        )
        SELECT array_agg(chain), array_agg(number), array_agg(namespace) INTO v_chains, v_numbers, v_spaces FROM advanced;
    END IF;
    IF 0 = ANY (c_first) THEN
        IF cardinality(d_digest) > 0 THEN PERFORM keep_documents(d_digest, d_bytes, n_document, n_digest, n_bytes); END IF;
        WITH given AS MATERIALIZED (
            SELECT * FROM unnest(c_run_id, c_epoch, c_first, c_next, c_phase, c_finished, c_open, c_host, c_workflow, c_namespace,
                c_priority, c_submitted, c_key, c_document, c_labels, c_rest, c_until, v_bytes) WITH ORDINALITY
            AS g (run_id, epoch, first, next, phase, finished, open, host, workflow, namespace, priority, submitted, key, document,
                labels, rest, until, bytes, chain)
            WHERE g.first = 0
        ), wanted AS (
            -- One that is refused uses up no number.
            SELECT * FROM given g
            WHERE NOT EXISTS (SELECT FROM runs r WHERE r.run_id = g.run_id)
                AND (g.key IS NULL OR NOT EXISTS (SELECT FROM runs r WHERE r.namespace = g.namespace AND r.key = g.key))
        ), created AS (
            INSERT INTO runs (run_id, workflow, namespace, priority, submitted_at, key, phase, finished_at, open, seq, epoch, owner,
                document, labels, rest, rests_until, bytes)
            SELECT g.run_id, g.workflow, g.namespace, g.priority, g.submitted, g.key, g.phase, g.finished, g.open, g.next, g.epoch,
                CASE WHEN g.open THEN g.host END, (SELECT d.id FROM documents d WHERE d.digest = g.document), g.labels, g.rest,
                g.until, g.bytes
            FROM wanted g ORDER BY g.chain
            ON CONFLICT DO NOTHING
            RETURNING run_id, number
        ), matched AS (
            SELECT max(chain) AS chain, max(number) AS number, max(namespace) AS namespace FROM (
                SELECT run_id, chain, 0 AS number, namespace FROM given UNION ALL SELECT run_id, 0, number, NULL FROM created
            ) AS both_sides GROUP BY run_id
        )
        SELECT v_chains || array_agg(chain), v_numbers || array_agg(number), v_spaces || array_agg(namespace)
        INTO v_chains, v_numbers, v_spaces FROM matched;
    END IF;
    FOR i IN 1 .. coalesce(cardinality(v_chains), 0) LOOP
        v_runs[v_chains[i]] := v_numbers[i];
    END LOOP;
    INSERT INTO stored AS s (namespace, slot, bytes)
    SELECT t.namespace, pg_backend_pid() % 64, sum(v_bytes[t.chain]) FROM unnest(v_chains, v_numbers, v_spaces) AS t (chain, number, namespace)
    WHERE t.number > 0 GROUP BY t.namespace ORDER BY t.namespace
    ON CONFLICT (namespace, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;

    IF 0 = ANY (c_first) THEN
        INSERT INTO labels (key, value, run)
        SELECT l.key, l.value, v_runs[g.chain] FROM unnest(c_labels) WITH ORDINALITY AS g (labels, chain)
        CROSS JOIN LATERAL json_each_text(g.labels::json) AS l
        WHERE g.labels IS NOT NULL AND v_runs[g.chain] > 0 ON CONFLICT DO NOTHING;
        INSERT INTO hosts (host, until)
        SELECT DISTINCT h.host, 0 FROM unnest(c_host) AS h (host) WHERE h.host IS NOT NULL ORDER BY h.host
        ON CONFLICT DO NOTHING;
    END IF;

    INSERT INTO journal (run, first_seq, events, time, body, checksum)
    SELECT v_runs[r.chain], r.first, r.events, r.time, r.body, r.checksum
    FROM unnest(r_chain, r_first, r_events, r_time, r_body, r_checksum) AS r (chain, first, events, time, body, checksum)
    WHERE v_runs[r.chain] > 0;

    IF cardinality(a_chain) > 0 THEN
        PERFORM leave_replies(
            (SELECT array_agg(v_runs[a.chain] ORDER BY a.place) FROM unnest(a_chain) WITH ORDINALITY AS a (chain, place)),
            a_letter, a_body);
    END IF;
    IF false = ANY (c_open) THEN
        -- Nobody reads the mail of a run that has ended.
        v_ended := ARRAY(SELECT v_runs[c.chain] FROM unnest(c_open) WITH ORDINALITY AS c (open, chain) WHERE NOT c.open);
        UPDATE letters SET reply = '' WHERE run = ANY (v_ended) AND reply IS NULL;
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
