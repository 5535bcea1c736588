UPDATE format SET version = 2;

-- What runs speak of, once each. Runs of the format before have it in their journals: their document is 0.
CREATE TABLE documents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest text COLLATE "C" NOT NULL UNIQUE,
    bytes bytea NOT NULL
);
CREATE TABLE needs (
    document bigint NOT NULL,
    component text COLLATE "C" NOT NULL,
    PRIMARY KEY (document, component)
);
CREATE INDEX needed ON needs (component);
ALTER TABLE runs ADD COLUMN document bigint;
UPDATE runs SET document = 0;
-- Whether a run in which nothing happens by itself is parked, and until when.
ALTER TABLE runs ADD COLUMN rest boolean;
ALTER TABLE runs ADD COLUMN rests_until bigint;
ALTER TABLE runs ADD COLUMN labels text;
CREATE INDEX runs_of_document ON runs (document);
CREATE INDEX submitted_runs ON runs (submitted_at);
CREATE INDEX ended_runs ON runs (namespace, finished_at) WHERE NOT open;
CREATE TABLE labels (
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    PRIMARY KEY (key, value, run)
);

-- Keeps those documents, and the components that they need. Without bytes one has to be there; who sent none sends them then.
CREATE FUNCTION keep_documents(
    d_digest text[], d_bytes bytea[], n_document text[], n_digest text[], n_bytes bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_new text[];
BEGIN
    -- Whoever collects one waits for this transaction, or this one for them.
    PERFORM id FROM documents WHERE digest = ANY (d_digest) ORDER BY id FOR KEY SHARE;
    SELECT array_agg(d.digest) INTO v_new FROM unnest(d_digest) AS d (digest)
    WHERE NOT EXISTS (SELECT FROM documents k WHERE k.digest = d.digest);
    IF v_new IS NULL THEN RETURN; END IF;
    IF EXISTS (SELECT FROM unnest(d_digest, d_bytes) AS d (digest, bytes) WHERE d.bytes IS NULL AND d.digest = ANY (v_new)) THEN
        RAISE EXCEPTION 'a document was deleted meanwhile' USING ERRCODE = '40001';
    END IF;
    INSERT INTO documents (digest, bytes)
    SELECT d.digest, d.bytes FROM unnest(d_digest, d_bytes) AS d (digest, bytes) WHERE d.digest = ANY (v_new) ORDER BY d.digest
    ON CONFLICT DO NOTHING;
    INSERT INTO needs (document, component)
    SELECT d.id, n.digest FROM unnest(n_document, n_digest) AS n (document, digest) JOIN documents d ON d.digest = n.document
    WHERE n.document = ANY (v_new) ORDER BY d.id, n.digest ON CONFLICT DO NOTHING;
    INSERT INTO components (digest, bytes)
    SELECT n.digest, n.bytes FROM unnest(n_document, n_digest, n_bytes) WITH ORDINALITY AS n (document, digest, bytes, place)
    WHERE n.document = ANY (v_new) ORDER BY n.digest, n.place ON CONFLICT DO NOTHING;
END $$;

-- Deletes what a run that is gone spoke of, unless another does. What runs of the format before name is in their journals: while
-- there is one of these, no component goes.
CREATE FUNCTION collect_document(p_document bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    IF p_document IS NULL OR EXISTS (SELECT FROM runs WHERE document = p_document) THEN RETURN; END IF;
    LOCK TABLE documents IN EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM runs WHERE document = p_document) THEN RETURN; END IF;
    IF p_document = 0 THEN
        DELETE FROM components WHERE NOT EXISTS (SELECT FROM needs n WHERE n.component = digest);
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM runs WHERE document = 0) THEN
        DELETE FROM components WHERE digest IN (SELECT component FROM needs WHERE document = p_document)
            AND NOT EXISTS (SELECT FROM needs n WHERE n.component = digest AND n.document <> p_document);
    END IF;
    DELETE FROM needs WHERE document = p_document;
    DELETE FROM documents WHERE id = p_document;
END $$;

DROP FUNCTION append_records;
-- Appends records of many runs. A chain is what one run gets: records that follow each other, and where the run stands after
-- them. Each is taken or refused by itself; a row is returned for each that was refused, with what stood in its way.
CREATE FUNCTION append_records(
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
BEGIN
    IF cardinality(d_digest) > 0 THEN PERFORM keep_documents(d_digest, d_bytes, n_document, n_digest, n_bytes); END IF;
    WITH given AS MATERIALIZED (
        SELECT * FROM unnest(c_run_id, c_epoch, c_first, c_next, c_phase, c_finished, c_open, c_host, c_workflow,
            c_namespace, c_priority, c_submitted, c_key, c_document, c_labels, c_rest, c_until) WITH ORDINALITY
        AS g (run_id, epoch, first, next, phase, finished, open, host, workflow, namespace, priority, submitted, key, document,
            labels, rest, until, chain)
    ), advanced AS (
        UPDATE runs SET seq = g.next, phase = g.phase, finished_at = g.finished, open = g.open,
            rest = g.rest, rests_until = g.until, owner = CASE WHEN g.open THEN runs.owner END, wake_at = CASE WHEN g.open THEN runs.wake_at END
        FROM given g
        WHERE runs.run_id = g.run_id AND runs.epoch = g.epoch AND runs.seq = g.first
        RETURNING runs.run_id, runs.number
    ), created AS (
        INSERT INTO runs (run_id, workflow, namespace, priority, submitted_at, key, phase, finished_at, open, seq, epoch, owner,
            document, labels, rest, rests_until)
        SELECT g.run_id, g.workflow, g.namespace, g.priority, g.submitted, g.key, g.phase, g.finished, g.open, g.next,
            g.epoch, CASE WHEN g.open THEN g.host END, (SELECT d.id FROM documents d WHERE d.digest = g.document), g.labels,
            g.rest, g.until
        FROM given g
        WHERE g.first = 0 AND NOT EXISTS (SELECT FROM runs r WHERE r.run_id = g.run_id)
            AND (g.key IS NULL OR NOT EXISTS (SELECT FROM runs r WHERE r.namespace = g.namespace AND r.key = g.key))
        ORDER BY g.chain
        ON CONFLICT DO NOTHING
        RETURNING run_id, number
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

DROP FUNCTION claim_runs;
-- `p_clock` stands in for the database's clock in tests.
CREATE FUNCTION claim_runs(p_host text, p_now bigint, p_clock bigint, p_limit bigint, p_except text[])
RETURNS TABLE (
    run_id text, workflow text, namespace text, priority bigint, submitted_at bigint, key text, labels text, epoch bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_clock bigint := coalesce(p_clock, clock());
BEGIN
    INSERT INTO hosts (host, until) VALUES (p_host, 0) ON CONFLICT DO NOTHING;
    -- What rests is nobody's, once its host is gone.
    UPDATE runs SET owner = NULL, epoch = runs.epoch + 1, wake_at = rests_until
    WHERE number IN (
        SELECT r.number FROM hosts h JOIN runs r ON r.owner = h.host
        WHERE h.until <= v_clock AND h.host <> p_host AND r.rest IS NOT NULL LIMIT 10000 FOR UPDATE OF r SKIP LOCKED);
    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT number, wake_at AS at, priority FROM runs
        WHERE wake_at <= p_now AND run_id <> ALL (p_except)
        ORDER BY wake_at, priority DESC, number LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), asked AS MATERIALIZED (
        SELECT number, 0::bigint AS at, priority FROM runs
        WHERE open AND owner IS NULL AND run_id <> ALL (p_except)
            AND number IN (SELECT run FROM letters WHERE reply IS NULL)
        ORDER BY priority DESC, number LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), orphaned AS MATERIALIZED (
        SELECT r.number, h.until AS at, r.priority FROM hosts h JOIN runs r ON r.owner = h.host
        WHERE h.until <= v_clock AND h.host <> p_host AND r.run_id <> ALL (p_except)
        ORDER BY h.until, r.priority DESC, r.number LIMIT p_limit FOR UPDATE OF r SKIP LOCKED
    ), chosen AS MATERIALIZED (
        SELECT number, min(at) AS at FROM (
            SELECT * FROM due UNION ALL SELECT * FROM asked UNION ALL SELECT * FROM orphaned
        ) AS found GROUP BY number, priority ORDER BY min(at), priority DESC, number LIMIT p_limit
    ), lent AS (
        UPDATE runs SET owner = p_host, epoch = runs.epoch + 1, wake_at = NULL FROM chosen
        WHERE runs.number = chosen.number RETURNING runs.*, chosen.at
    )
    SELECT l.run_id, l.workflow, l.namespace, l.priority, l.submitted_at, l.key, l.labels, l.epoch
    FROM lent l ORDER BY l.at, l.priority DESC, l.number;
END $$;

DROP FUNCTION claim_run;
CREATE FUNCTION claim_run(p_host text, p_run_id text, p_clock bigint)
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
        UPDATE runs SET owner = p_host, epoch = v_run.epoch + 1, wake_at = NULL WHERE number = v_run.number
        RETURNING * INTO v_run;
    END IF;
    RETURN QUERY SELECT v_verdict, v_run.run_id, v_run.workflow, v_run.namespace, v_run.priority, v_run.submitted_at, v_run.key,
        v_run.labels, v_run.epoch, v_run.owner;
END $$;

CREATE OR REPLACE FUNCTION heartbeat(p_host text, p_until bigint, p_lease bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_until bigint := coalesce(p_until, clock() + p_lease);
BEGIN
    -- Whoever knew of no other host has to look after this one from now on, and after its runs if it goes.
    IF p_until IS NOT NULL OR NOT EXISTS (SELECT FROM hosts WHERE host = p_host AND until > clock()) THEN
        PERFORM tell();
        -- A day later nobody comes back under this name.
        DELETE FROM hosts h WHERE p_until IS NULL AND h.until BETWEEN 1 AND clock() - 86400000
            AND NOT EXISTS (SELECT FROM runs WHERE owner = h.host);
    END IF;
    IF v_until <= 0 THEN
        UPDATE runs SET owner = NULL, epoch = epoch + 1, wake_at = rests_until WHERE owner = p_host AND rest IS NOT NULL;
    END IF;
    INSERT INTO hosts (host, until) VALUES (p_host, v_until) ON CONFLICT (host) DO UPDATE SET until = excluded.until;
END $$;

CREATE OR REPLACE FUNCTION delete_run(p_run_id text) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
    v_open boolean;
    v_document bigint;
BEGIN
    SELECT number, open, document INTO v_run, v_open, v_document FROM runs WHERE run_id = p_run_id FOR UPDATE;
    IF NOT FOUND THEN RETURN 'none'; END IF;
    IF v_open THEN RETURN 'open'; END IF;
    DELETE FROM journal WHERE run = v_run;
    DELETE FROM letters WHERE run = v_run;
    DELETE FROM logs WHERE run = v_run;
    DELETE FROM labels WHERE run = v_run AND (key, value) IN (
        SELECT l.key, l.value FROM runs r, json_each_text(r.labels::json) AS l WHERE r.number = v_run);
    DELETE FROM runs WHERE number = v_run;
    PERFORM collect_document(v_document);
    RETURN 'done';
END $$;

CREATE FUNCTION abandon_run(p_run_id text, p_epoch bigint, p_phase text, p_at bigint) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run runs;
BEGIN
    SELECT * INTO v_run FROM runs WHERE run_id = p_run_id FOR UPDATE;
    IF NOT FOUND THEN RETURN 'none'; END IF;
    IF v_run.epoch <> p_epoch THEN RETURN 'fenced'; END IF;
    IF NOT v_run.open THEN RETURN 'closed'; END IF;
    UPDATE runs SET open = false, phase = p_phase, finished_at = p_at, owner = NULL, wake_at = NULL, rest = NULL, rests_until = NULL
    WHERE number = v_run.number;
    UPDATE letters SET reply = '' WHERE run = v_run.number AND reply IS NULL;
    PERFORM tell();
    RETURN 'done';
END $$;
