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

-- Whose an offered attempt is, and how much that tenant has beside others. What is offered is offered again.
DELETE FROM offers;
ALTER TABLE offers ADD COLUMN tenant text COLLATE "C" NOT NULL;
ALTER TABLE offers ADD COLUMN weight bigint NOT NULL;
DROP FUNCTION share_work;
-- One exchange. Answers: 'taken' (host, number, taking, kind, body), 'stopped' (host, number, taking), 'recalled' (number),
-- 'reported' (number, report's id as taking, body), and one 'room' (number: how many others have room for, taking: milliseconds
-- until one that executes something of this host may have gone).
CREATE FUNCTION share_work(
    p_host text, p_clock bigint,
    o_number bigint[], o_run text[], o_epoch bigint[], o_priority bigint[], o_kind text[], o_body bytea[],
    p_withdrawn bigint[], p_recalled bigint, p_heard bigint[],
    r_host text[], r_number bigint[], r_taking bigint[], r_last boolean[], r_body bytea[],
    b_host text[], b_number bigint[], b_taking bigint[],
    p_room bigint, p_except text[],
    p_missed boolean, h_host text[], h_number bigint[], h_taking bigint[],
    o_tenant text[], o_weight bigint[]
) RETURNS TABLE (what text, host text, number bigint, taking bigint, kind text, body bytea) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_clock bigint := coalesce(p_clock, clock());
    v_news boolean := false;
    v_count bigint := 0;
    v_room bigint;
    v_before bigint;
BEGIN
    DELETE FROM reports WHERE id = ANY (p_heard) AND host = p_host;

    IF cardinality(r_number) > 0 THEN
        -- What is somebody else's by now is told nobody.
        WITH told AS MATERIALIZED (
            SELECT o.id, o.host, o.number, r.last, r.body, r.place
            FROM unnest(r_host, r_number, r_taking, r_last, r_body) WITH ORDINALITY AS r (host, number, taking, last, body, place)
            JOIN offers o ON o.host = r.host AND o.number = r.number AND o.taking = r.taking AND o.taker = p_host
        ), done AS (
            DELETE FROM offers WHERE id IN (SELECT id FROM told WHERE last)
        )
        INSERT INTO reports (host, number, last, body) SELECT host, number, last, body FROM told ORDER BY place;
        v_news := v_news OR FOUND;
    END IF;

    IF p_missed THEN
        UPDATE offers o SET taker = NULL WHERE o.taker = p_host AND NOT EXISTS (
            SELECT FROM unnest(h_host, h_number, h_taking) AS h (host, number, taking)
            WHERE h.host = o.host AND h.number = o.number AND h.taking = o.taking);
        v_news := v_news OR FOUND;
    END IF;
    IF cardinality(b_number) > 0 THEN
        UPDATE offers o SET taker = NULL FROM unnest(b_host, b_number, b_taking) AS b (host, number, taking)
        WHERE o.host = b.host AND o.number = b.number AND o.taking = b.taking AND o.taker = p_host;
        v_news := v_news OR FOUND;
    END IF;

    UPDATE offers o SET taker = NULL WHERE o.host = p_host AND o.taker IS NOT NULL
        AND NOT EXISTS (SELECT FROM hosts h WHERE h.host = o.taker AND h.until > v_clock);
    v_news := v_news OR FOUND;

    IF cardinality(p_withdrawn) > 0 THEN
        WITH gone AS (
            DELETE FROM offers WHERE host = p_host AND number = ANY (p_withdrawn) RETURNING taker, host, number, taking
        )
        INSERT INTO stops (taker, host, number, taking) SELECT taker, host, number, taking FROM gone WHERE taker IS NOT NULL;
        v_news := v_news OR FOUND;
    END IF;

    IF cardinality(o_number) > 0 THEN
        INSERT INTO offers (host, number, run, priority, kind, body, tenant, weight)
        SELECT p_host, o.number, r.number, o.priority, o.kind, o.body, o.tenant, o.weight
        FROM unnest(o_number, o_run, o_epoch, o_priority, o_kind, o_body, o_tenant, o_weight)
            AS o (number, run, epoch, priority, kind, body, tenant, weight)
        JOIN runs r ON r.run_id = o.run AND r.epoch = o.epoch
        WHERE NOT EXISTS (SELECT FROM reports d WHERE d.host = p_host AND d.number = o.number AND d.last)
        ORDER BY o.number
        ON CONFLICT DO NOTHING;
        v_news := v_news OR FOUND;
    END IF;

    IF p_recalled > 0 THEN
        RETURN QUERY
        WITH oldest AS MATERIALIZED (
            SELECT id FROM offers WHERE host = p_host AND taker IS NULL ORDER BY number LIMIT p_recalled
            FOR UPDATE SKIP LOCKED
        ), back AS (
            DELETE FROM offers WHERE id IN (SELECT id FROM oldest) RETURNING number
        )
        SELECT 'recalled', p_host, b.number, 0::bigint, NULL, NULL::bytea FROM back b ORDER BY b.number;
    END IF;

    IF p_room > 0 THEN
        RETURN QUERY
        WITH elsewhere AS MATERIALIZED (
            SELECT tenant, count(*) AS had FROM offers WHERE taker IS NOT NULL GROUP BY tenant
        ), ranked AS MATERIALIZED (
            -- Of each tenant by priority and age; among tenants so that each has had as much for its weight.
            SELECT f.id, (coalesce(e.had, 0) + row_number() OVER (PARTITION BY f.tenant ORDER BY f.priority DESC, f.id)) / f.weight::float8 AS turn
            FROM offers f LEFT JOIN elsewhere e ON e.tenant = f.tenant
            WHERE f.taker IS NULL AND f.host <> p_host AND f.kind <> ALL (p_except)
        ), chosen AS MATERIALIZED (
            SELECT o.id, w.turn FROM ranked w JOIN offers o ON o.id = w.id WHERE o.taker IS NULL
            ORDER BY w.turn, o.priority DESC, o.id LIMIT p_room FOR UPDATE OF o SKIP LOCKED
        ), taken AS (
            UPDATE offers o SET taker = p_host, taking = o.taking + 1 FROM chosen WHERE o.id = chosen.id
            RETURNING o.id, o.host, o.number, o.taking, o.priority, o.kind, o.body, chosen.turn
        )
        SELECT 'taken', t.host, t.number, t.taking, t.kind, t.body FROM taken t ORDER BY t.turn, t.priority DESC, t.id;
        GET DIAGNOSTICS v_count = ROW_COUNT;
    END IF;

    v_room := p_room - v_count;
    SELECT room INTO v_before FROM rooms WHERE host = p_host;
    IF v_room IS DISTINCT FROM coalesce(v_before, 0) THEN
        INSERT INTO rooms (host, room) VALUES (p_host, v_room) ON CONFLICT (host) DO UPDATE SET room = excluded.room;
        v_news := v_news OR v_room > coalesce(v_before, 0);
        DELETE FROM rooms WHERE v_before IS NULL AND NOT EXISTS (SELECT FROM hosts h WHERE h.host = rooms.host);
    END IF;

    RETURN QUERY WITH gone AS (DELETE FROM stops WHERE taker = p_host RETURNING host, number, taking)
        SELECT 'stopped', g.host, g.number, g.taking, NULL, NULL::bytea FROM gone g;
    RETURN QUERY SELECT 'reported', p_host, r.number, r.id, NULL, r.body FROM reports r WHERE r.host = p_host ORDER BY r.id;
    RETURN QUERY SELECT 'room', p_host,
        (SELECT coalesce(sum(m.room), 0)::bigint FROM rooms m JOIN hosts h ON h.host = m.host AND h.until > v_clock
            WHERE m.host <> p_host),
        (SELECT min(h.until) - v_clock FROM hosts h WHERE h.host IN (
            SELECT o.taker FROM offers o WHERE o.host = p_host AND o.taker IS NOT NULL)), NULL, NULL::bytea;
    IF v_news THEN PERFORM tell_shared(); END IF;
END $$;
