-- Functions of store format 1, for stores of that format in tests.
-- Returns the time that leases go by, in milliseconds. `p_clock` of other functions replaces it in tests.
CREATE FUNCTION clock() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint';

-- Wakes hosts: runs may have become due, have mail, or have answered.
CREATE FUNCTION tell() RETURNS void LANGUAGE sql VOLATILE AS
    'SELECT pg_notify(current_schema(), '''')';

CREATE FUNCTION tell_entries() RETURNS void LANGUAGE sql VOLATILE AS
    'SELECT pg_notify(current_schema() || ''.entries'', '''')';

CREATE FUNCTION tell_shared() RETURNS void LANGUAGE sql VOLATILE AS
    'SELECT pg_notify(current_schema() || ''.shared'', '''')';

-- Answers those of the letters that belong to the runs, and deletes the oldest answers of each run but 64.
CREATE FUNCTION leave_replies(p_run bigint[], p_letter bigint[], p_body bytea[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    UPDATE letters SET reply = a.body FROM unnest(p_run, p_letter, p_body) AS a (run, letter, body)
    WHERE letters.id = a.letter AND letters.run = a.run AND letters.reply IS NULL;
    IF FOUND THEN PERFORM tell(); END IF;
    DELETE FROM letters WHERE run = ANY (p_run) AND reply IS NOT NULL AND id <= (
        SELECT l.id FROM letters l WHERE l.run = letters.run AND l.reply IS NOT NULL ORDER BY l.id DESC OFFSET 64 LIMIT 1);
END $$;

-- Stores notices, without those whose run is null.
CREATE FUNCTION keep_notices(n_run text[], n_seq bigint[], n_endpoint text[], n_due bigint[], n_body text[])
RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO notices (run_id, seq, endpoint, revision, due, body)
    SELECT n.run_id, n.seq, n.endpoint, 1, n.due, n.body
    FROM unnest(n_run, n_seq, n_endpoint, n_due, n_body) AS n (run_id, seq, endpoint, due, body)
    WHERE n.run_id IS NOT NULL
    ON CONFLICT (run_id, seq, endpoint) DO UPDATE SET revision = 1, due = excluded.due, body = excluded.body;
    IF FOUND THEN PERFORM pg_notify(current_schema() || '.notices', ''); END IF;
END $$;

-- Stores documents that are new, with the components that they need. A document without bytes has to be stored already; otherwise the
-- transaction fails, and the host repeats it with all bytes.
CREATE FUNCTION keep_documents(
    d_digest text[], d_bytes bytea[], n_document text[], n_digest text[], n_bytes bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_new text[];
BEGIN
    -- The lock serialises this transaction with `collect_document`.
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

-- Deletes the document of a deleted run, unless another run uses it, and components that no other document needs.
CREATE FUNCTION collect_document(p_document bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    IF p_document IS NULL OR EXISTS (SELECT FROM runs WHERE document = p_document) THEN RETURN; END IF;
    LOCK TABLE documents IN EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM runs WHERE document = p_document) THEN RETURN; END IF;
    DELETE FROM components WHERE digest IN (SELECT component FROM needs WHERE document = p_document)
        AND NOT EXISTS (SELECT FROM needs n WHERE n.component = digest AND n.document <> p_document);
    DELETE FROM needs WHERE document = p_document;
    DELETE FROM documents WHERE id = p_document;
END $$;

-- Appends records of many runs. A chain has the records for one run, each the successor of the one before, and the state of the run after
-- them. Each chain is taken or refused by itself, with its notices; a row is returned for each refused chain, with the state that was found.
CREATE FUNCTION append_records(
    c_run_id text[], c_epoch bigint[], c_first bigint[], c_next bigint[], c_phase text[], c_finished bigint[], c_open boolean[],
    c_host text[], c_workflow text[], c_namespace text[], c_priority bigint[], c_submitted bigint[], c_key text[],
    c_document text[], c_labels text[], c_rest boolean[], c_until bigint[],
    r_chain bigint[], r_first bigint[], r_events bigint[], r_time bigint[], r_body bytea[], r_checksum bigint[],
    a_chain bigint[], a_letter bigint[], a_body bytea[],
    d_digest text[], d_bytes bytea[], n_document text[], n_digest text[], n_bytes bytea[],
    t_chain bigint[], t_seq bigint[], t_endpoint text[], t_due bigint[], t_body text[]
) RETURNS TABLE (chain bigint, epoch bigint, seq bigint, holder text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    -- Number of the run of each chain; 0 if the chain is refused.
    v_runs bigint[] := array_fill(0::bigint, ARRAY[cardinality(c_run_id)]);
    -- Bytes of the records of each chain.
    v_bytes bigint[];
    -- Chains, the numbers of their runs (0 for a refused one), and their namespaces.
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
            -- A refused run uses up no number.
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
        -- Requests to an ended run get no reply any more.
        v_ended := ARRAY(SELECT v_runs[c.chain] FROM unnest(c_open) WITH ORDINALITY AS c (open, chain) WHERE NOT c.open);
        UPDATE letters SET reply = '' WHERE run = ANY (v_ended) AND reply IS NULL;
        IF FOUND THEN PERFORM tell(); END IF;
    END IF;
    IF cardinality(t_chain) > 0 THEN
        PERFORM keep_notices(
            (SELECT array_agg(CASE WHEN v_runs[t.chain] > 0 THEN c_run_id[t.chain] END ORDER BY t.place)
                FROM unnest(t_chain) WITH ORDINALITY AS t (chain, place)),
            t_seq, t_endpoint, t_due, t_body);
    END IF;
    IF 0 = ANY (v_runs) THEN
        -- Documents of refused runs.
        PERFORM collect_document(d.id) FROM documents d WHERE d.digest IN (
            SELECT g.document FROM unnest(c_document) WITH ORDINALITY AS g (document, chain) WHERE v_runs[g.chain] = 0);
        RETURN QUERY SELECT g.chain, r.epoch, r.seq, k.run_id
        FROM unnest(c_run_id, c_namespace, c_key) WITH ORDINALITY AS g (run_id, namespace, key, chain)
        LEFT JOIN runs r ON r.run_id = g.run_id
        LEFT JOIN runs k ON k.namespace = g.namespace AND k.key = g.key
        WHERE v_runs[g.chain] = 0;
    END IF;
END $$;

-- Returns the owners of runs that are not live, except `p_host`. Each owner takes one step in the index, however many runs it has.
CREATE FUNCTION gone_owners(p_host text, p_clock bigint) RETURNS text[] LANGUAGE sql STABLE AS $$
    WITH RECURSIVE owners (host) AS (
        SELECT min(owner) FROM runs WHERE owner IS NOT NULL
        UNION ALL
        SELECT (SELECT min(r.owner) FROM runs r WHERE r.owner > o.host) FROM owners o WHERE o.host IS NOT NULL
    )
    SELECT coalesce(array_agg(o.host), '{}') FROM owners o WHERE o.host IS NOT NULL AND o.host <> p_host
        AND NOT EXISTS (SELECT FROM hosts h WHERE h.host = o.host AND h.until > p_clock);
$$;

-- Withdraws offers: their takers are to stop.
CREATE FUNCTION withdraw_offers(p_offers bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    WITH gone AS (DELETE FROM offers WHERE id = ANY (p_offers) RETURNING taker, host, number, taking)
    INSERT INTO stops (taker, host, number, taking)
    SELECT taker, host, number, taking FROM gone g WHERE taker IS NOT NULL AND EXISTS (SELECT FROM hosts h WHERE h.host = g.taker);
    RETURN FOUND;
END $$;

-- Deletes rows about a host that has left. Offers of runs that it still owns are withdrawn when these are claimed.
CREATE FUNCTION forget_host(p_host text) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    DELETE FROM hosts WHERE host = p_host;
    DELETE FROM rooms WHERE host = p_host;
    DELETE FROM stops WHERE taker = p_host;
    DELETE FROM reports WHERE host = p_host;
    IF withdraw_offers(ARRAY(SELECT o.id FROM offers o WHERE o.host = p_host
        AND NOT EXISTS (SELECT FROM runs r WHERE r.number = o.run AND r.owner = p_host))) THEN PERFORM tell_shared(); END IF;
END $$;

-- Forgets hosts that fell silent and own nothing any more. One that comes back has a row again with its next heartbeat.
CREATE FUNCTION collect_hosts(p_clock bigint) RETURNS void LANGUAGE sql AS $$
    SELECT forget_host(host) FROM (
        SELECT h.host FROM hosts h WHERE h.until <= p_clock AND NOT EXISTS (SELECT FROM runs WHERE owner = h.host)
        FOR UPDATE SKIP LOCKED) AS silent;
$$;

-- Deletes what no run and no host needs, and what a crash or a race has left of it.
CREATE FUNCTION sweep() RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    PERFORM collect_hosts(clock());
    PERFORM forget_host(host) FROM (SELECT host FROM rooms UNION SELECT taker FROM stops UNION SELECT host FROM reports
        UNION SELECT host FROM offers) AS named (host)
    WHERE NOT EXISTS (SELECT FROM hosts h WHERE h.host = named.host);
    -- A namespace without runs. The lock keeps others from counting a new one meanwhile.
    IF EXISTS (SELECT FROM stored GROUP BY namespace HAVING sum(bytes) = 0) THEN
        LOCK TABLE stored IN SHARE ROW EXCLUSIVE MODE;
        DELETE FROM stored WHERE namespace IN (SELECT namespace FROM stored GROUP BY namespace HAVING sum(bytes) = 0);
    END IF;
END $$;

-- Each set of candidates is materialised before the update: a join could as well begin with all open runs, and does before the server has
-- statistics of them.
CREATE FUNCTION claim_runs(p_host text, p_now bigint, p_clock bigint, p_limit bigint, p_except text[])
RETURNS TABLE (
    run_id text, workflow text, namespace text, priority bigint, submitted_at bigint, key text, labels text, epoch bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_clock bigint := coalesce(p_clock, clock());
    v_gone text[] := gone_owners(p_host, v_clock);
BEGIN
    IF EXISTS (SELECT FROM hosts WHERE until <= v_clock) THEN PERFORM collect_hosts(v_clock); END IF;
    -- A resting run loses its owner once that host is gone.
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
        SELECT r.number, coalesce((SELECT h.until FROM hosts h WHERE h.host = r.owner), 0) AS at, r.priority FROM runs r
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
    ELSE
        UPDATE runs SET owner = p_host, epoch = v_run.epoch + 1, wake_at = NULL, note = NULL WHERE number = v_run.number
        RETURNING * INTO v_run;
    END IF;
    RETURN QUERY SELECT v_verdict, v_run.run_id, v_run.workflow, v_run.namespace, v_run.priority, v_run.submitted_at, v_run.key,
        v_run.labels, v_run.epoch, v_run.owner;
END $$;

CREATE FUNCTION release_run(p_run_id text, p_epoch bigint, p_wake_at bigint) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
BEGIN
    UPDATE runs SET owner = NULL, wake_at = CASE WHEN open THEN p_wake_at END, note = NULL
    WHERE run_id = p_run_id AND epoch = p_epoch RETURNING number INTO v_run;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM runs WHERE run_id = p_run_id) THEN 'fenced' ELSE 'none' END;
    END IF;
    -- Also for a future time: the releasing host may be gone by then.
    IF p_wake_at IS NOT NULL OR EXISTS (SELECT FROM letters WHERE run = v_run AND reply IS NULL) THEN
        PERFORM tell();
    END IF;
    RETURN 'done';
END $$;

CREATE FUNCTION leave_run(p_run_id text, p_epoch bigint, p_wake_at bigint, p_note text, p_noted_at bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_verdict text := release_run(p_run_id, p_epoch, p_wake_at);
BEGIN
    IF v_verdict = 'done' THEN
        UPDATE runs SET note = p_note, noted_at = p_noted_at WHERE run_id = p_run_id;
    END IF;
    RETURN v_verdict;
END $$;

CREATE FUNCTION note_run(p_run_id text, p_epoch bigint, p_note text, p_noted_at bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    UPDATE runs SET note = p_note, noted_at = p_noted_at WHERE run_id = p_run_id AND epoch = p_epoch;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM runs WHERE run_id = p_run_id) THEN 'fenced' ELSE 'none' END;
    END IF;
    RETURN 'done';
END $$;

-- A live host counts with the time until which it is live: it may be gone then, and have runs.
CREATE FUNCTION next_due(p_host text, p_now bigint, p_clock bigint, p_except text[]) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_clock bigint := coalesce(p_clock, clock());
    v_gone text[] := gone_owners(p_host, v_clock);
BEGIN
    RETURN least(
        (SELECT wake_at FROM runs WHERE wake_at IS NOT NULL AND run_id <> ALL (p_except)
            ORDER BY wake_at, priority DESC, number LIMIT 1),
        (SELECT 0 FROM runs WHERE open AND owner IS NULL AND run_id <> ALL (p_except)
            AND number = ANY (ARRAY(SELECT DISTINCT run FROM letters WHERE reply IS NULL)) LIMIT 1),
        (SELECT min(h.until) FROM hosts h WHERE h.host <> p_host AND h.until > v_clock) - v_clock + p_now,
        (SELECT min(coalesce((SELECT h.until FROM hosts h WHERE h.host = g.host), 0)) FROM unnest(v_gone) AS g (host)
            WHERE EXISTS (SELECT FROM runs WHERE owner = g.host AND run_id <> ALL (p_except))) - v_clock + p_now);
END $$;

CREATE FUNCTION heartbeat(p_host text, p_until bigint, p_lease bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_until bigint := coalesce(p_until, clock() + p_lease);
BEGIN
    -- Other hosts have to watch a new host from now on, and take over its runs if it goes.
    IF p_until IS NOT NULL OR NOT EXISTS (SELECT FROM hosts WHERE host = p_host AND until > clock()) THEN
        PERFORM tell();
    END IF;
    IF v_until <= 0 THEN
        UPDATE runs SET owner = NULL, epoch = epoch + 1, wake_at = rests_until WHERE owner = p_host AND rest IS NOT NULL;
        PERFORM forget_host(p_host);
        RETURN;
    END IF;
    INSERT INTO hosts (host, until) VALUES (p_host, v_until) ON CONFLICT (host) DO UPDATE SET until = excluded.until;
END $$;

CREATE FUNCTION post_letter(p_run_id text, p_body bytea, p_limit bigint)
RETURNS TABLE (verdict text, id bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
    v_open boolean;
    v_id bigint;
BEGIN
    -- The lock serialises this with the record that ends the run, and with other letters.
    SELECT number, open INTO v_run, v_open FROM runs WHERE run_id = p_run_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'none', 0::bigint;
    ELSIF NOT v_open THEN
        RETURN QUERY SELECT 'closed', 0::bigint;
    ELSIF (SELECT count(*) FROM letters WHERE run = v_run AND reply IS NULL) >= p_limit THEN
        RETURN QUERY SELECT 'full', 0::bigint;
    ELSE
        INSERT INTO letters (run, body) VALUES (v_run, p_body) RETURNING letters.id INTO v_id;
        PERFORM tell();
        RETURN QUERY SELECT 'done', v_id;
    END IF;
END $$;

CREATE FUNCTION reply_letters(p_run_id text, p_epoch bigint, p_letter bigint[], p_body bytea[]) RETURNS text
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
BEGIN
    SELECT number INTO v_run FROM runs WHERE run_id = p_run_id AND epoch = p_epoch FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM runs WHERE run_id = p_run_id) THEN 'fenced' ELSE 'none' END;
    END IF;
    PERFORM leave_replies(array_fill(v_run, ARRAY[cardinality(p_letter)]), p_letter, p_body);
    RETURN 'done';
END $$;

CREATE FUNCTION keep_log(
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

CREATE FUNCTION abandon_run(
    p_run_id text, p_epoch bigint, p_phase text, p_at bigint, t_seq bigint[], t_endpoint text[], t_due bigint[], t_body text[]
) RETURNS text LANGUAGE plpgsql AS $$
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
    IF cardinality(t_seq) > 0 THEN
        PERFORM keep_notices(array_fill(p_run_id, ARRAY[cardinality(t_seq)]), t_seq, t_endpoint, t_due, t_body);
    END IF;
    RETURN 'done';
END $$;

CREATE FUNCTION delete_run(p_run_id text) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
    v_open boolean;
    v_document bigint;
BEGIN
    -- Serialises with `settle_notice`.
    PERFORM FROM notices WHERE notices.run_id = p_run_id FOR UPDATE;
    SELECT number, open, document INTO v_run, v_open, v_document FROM runs WHERE run_id = p_run_id FOR UPDATE;
    IF NOT FOUND THEN RETURN 'none'; END IF;
    IF v_open THEN RETURN 'open'; END IF;
    DELETE FROM journal WHERE run = v_run;
    DELETE FROM letters WHERE run = v_run;
    DELETE FROM logs WHERE run = v_run;
    DELETE FROM labels WHERE run = v_run AND (key, value) IN (
        SELECT l.key, l.value FROM runs r, json_each_text(r.labels::json) AS l WHERE r.number = v_run);
    IF withdraw_offers(ARRAY(SELECT id FROM offers WHERE run = v_run)) THEN PERFORM tell_shared(); END IF;
    DELETE FROM runs WHERE number = v_run;
    DELETE FROM notices WHERE notices.run_id = p_run_id AND due IS NULL;
    PERFORM collect_document(v_document);
    RETURN 'done';
END $$;

-- Subtracts the bytes of a deleted run from those of its namespace.
CREATE FUNCTION count_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stored AS s (namespace, slot, bytes) VALUES (OLD.namespace, pg_backend_pid() % 64, -OLD.bytes)
    ON CONFLICT (namespace, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE TRIGGER gone_runs AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION count_gone();

CREATE FUNCTION keep_tenants(p_text text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE tenants IN EXCLUSIVE MODE;
    DELETE FROM tenants;
    INSERT INTO tenants VALUES (p_text);
END $$;

-- Makes these the texts that the entry names. The caller has locked `texts`.
CREATE FUNCTION name_texts(p_shelf text, p_namespace text, p_name text, t_digest text[], t_size bigint[], t_bytes bytea[])
RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_named text[];
BEGIN
    v_named := ARRAY(SELECT digest FROM mentions WHERE shelf = p_shelf AND namespace = p_namespace AND name = p_name);
    DELETE FROM mentions WHERE shelf = p_shelf AND namespace = p_namespace AND name = p_name;
    INSERT INTO mentions (shelf, namespace, name, digest, size)
    SELECT p_shelf, p_namespace, p_name, t.digest, t.size FROM unnest(t_digest, t_size) AS t (digest, size) ON CONFLICT DO NOTHING;
    INSERT INTO texts (digest, bytes)
    SELECT t.digest, t.bytes FROM unnest(t_digest, t_bytes) AS t (digest, bytes) WHERE t.bytes IS NOT NULL ON CONFLICT DO NOTHING;
    DELETE FROM texts WHERE digest = ANY (v_named) AND NOT EXISTS (SELECT FROM mentions m WHERE m.digest = texts.digest);
END $$;

CREATE FUNCTION write_entry(p_shelf text, p_namespace text, p_name text, p_due bigint, p_body text) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_revision bigint := nextval('revisions');
BEGIN
    INSERT INTO entries (shelf, namespace, name, revision, due, body)
    VALUES (p_shelf, p_namespace, p_name, v_revision, p_due, p_body)
    ON CONFLICT (shelf, namespace, name) DO UPDATE SET revision = excluded.revision, due = excluded.due, body = excluded.body;
    PERFORM tell_entries();
    RETURN v_revision;
END $$;

-- `t_digest` is null if the texts stay as they are. Beyond a limit, the number of other entries and the bytes of their texts are returned.
CREATE FUNCTION change_entry(
    p_shelf text, p_namespace text, p_name text, p_from bigint, p_due bigint, p_body text,
    t_digest text[], t_size bigint[], t_bytes bytea[], p_most bigint, p_most_bytes bigint
) RETURNS TABLE (verdict text, revision bigint, others bigint, bytes bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_found bigint;
    v_others bigint := 0;
    v_bytes bigint := 0;
BEGIN
    -- Texts change seldom, so their writers are serialised.
    IF t_digest IS NOT NULL THEN LOCK TABLE texts IN EXCLUSIVE MODE; END IF;
    SELECT e.revision INTO v_found FROM entries e WHERE e.shelf = p_shelf AND e.namespace = p_namespace AND e.name = p_name FOR UPDATE;
    IF coalesce(v_found, 0) <> p_from THEN
        RETURN QUERY SELECT 'moved', 0::bigint, 0::bigint, 0::bigint;
        RETURN;
    END IF;
    IF t_digest IS NOT NULL THEN
        SELECT count(*) INTO v_others FROM entries e WHERE e.shelf = p_shelf AND e.namespace = p_namespace AND e.name <> p_name;
        SELECT coalesce(sum(m.size), 0) INTO v_bytes FROM mentions m
        WHERE m.shelf = p_shelf AND m.namespace = p_namespace AND m.name <> p_name;
        IF v_others >= p_most OR v_bytes > p_most_bytes THEN
            RETURN QUERY SELECT 'crowded', 0::bigint, v_others, v_bytes;
            RETURN;
        END IF;
        PERFORM name_texts(p_shelf, p_namespace, p_name, t_digest, t_size, t_bytes);
    END IF;
    RETURN QUERY SELECT 'done', write_entry(p_shelf, p_namespace, p_name, p_due, p_body), v_others, v_bytes;
END $$;

CREATE FUNCTION remove_entry(p_shelf text, p_namespace text, p_name text) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    LOCK TABLE texts IN EXCLUSIVE MODE;
    DELETE FROM entries WHERE shelf = p_shelf AND namespace = p_namespace AND name = p_name;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM name_texts(p_shelf, p_namespace, p_name, '{}', '{}', '{}');
    PERFORM tell_entries();
    RETURN true;
END $$;

-- `append_records` of a new run, and a new revision of an entry: both or neither.
CREATE FUNCTION fire_run(
    p_shelf text, p_namespace text, p_name text, p_from bigint, p_due bigint, p_body text,
    c_run_id text[], c_epoch bigint[], c_first bigint[], c_next bigint[], c_phase text[], c_finished bigint[], c_open boolean[],
    c_host text[], c_workflow text[], c_namespace text[], c_priority bigint[], c_submitted bigint[], c_key text[],
    c_document text[], c_labels text[], c_rest boolean[], c_until bigint[],
    r_chain bigint[], r_first bigint[], r_events bigint[], r_time bigint[], r_body bytea[], r_checksum bigint[],
    a_chain bigint[], a_letter bigint[], a_body bytea[],
    d_digest text[], d_bytes bytea[], n_document text[], n_digest text[], n_bytes bytea[],
    t_chain bigint[], t_seq bigint[], t_endpoint text[], t_due bigint[], t_body text[]
) RETURNS TABLE (verdict text, revision bigint, epoch bigint, seq bigint, holder text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_found bigint;
    v_refused record;
BEGIN
    SELECT e.revision INTO v_found FROM entries e WHERE e.shelf = p_shelf AND e.namespace = p_namespace AND e.name = p_name FOR UPDATE;
    IF coalesce(v_found, 0) <> p_from THEN
        RETURN QUERY SELECT 'moved', 0::bigint, NULL::bigint, NULL::bigint, NULL::text;
        RETURN;
    END IF;
    SELECT a.epoch, a.seq, a.holder INTO v_refused FROM append_records(
        c_run_id, c_epoch, c_first, c_next, c_phase, c_finished, c_open, c_host, c_workflow, c_namespace, c_priority, c_submitted,
        c_key, c_document, c_labels, c_rest, c_until, r_chain, r_first, r_events, r_time, r_body, r_checksum, a_chain, a_letter,
        a_body, d_digest, d_bytes, n_document, n_digest, n_bytes, t_chain, t_seq, t_endpoint, t_due, t_body) AS a;
    IF FOUND THEN
        RETURN QUERY SELECT 'refused', 0::bigint, v_refused.epoch, v_refused.seq, v_refused.holder;
        RETURN;
    END IF;
    RETURN QUERY SELECT 'done', write_entry(p_shelf, p_namespace, p_name, p_due, p_body), NULL::bigint, NULL::bigint, NULL::text;
END $$;

-- A notice that needs no more delivery is deleted with its run, whichever of the two comes last.
CREATE FUNCTION settle_notice(p_run_id text, p_seq bigint, p_endpoint text, p_from bigint, p_due bigint, p_body text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE notices SET revision = revision + 1, due = p_due, body = p_body
    WHERE run_id = p_run_id AND seq = p_seq AND endpoint = p_endpoint AND revision = p_from;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM notices WHERE p_due IS NULL AND run_id = p_run_id AND seq = p_seq AND endpoint = p_endpoint
        AND NOT EXISTS (SELECT FROM runs WHERE runs.run_id = p_run_id);
    RETURN true;
END $$;

-- A claim of a run withdraws the offers of its attempts. An append leaves the epoch as it is, and does not run the trigger.
CREATE FUNCTION void_offers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF withdraw_offers(ARRAY(SELECT id FROM offers WHERE run = NEW.number)) THEN PERFORM tell_shared(); END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER claimed_runs AFTER UPDATE OF epoch ON runs FOR EACH ROW WHEN (OLD.epoch <> NEW.epoch)
    EXECUTE FUNCTION void_offers();

-- One exchange between hosts. Rows: 'taken' (host, number, taking, kind, body), 'stopped' (host, number, taking), 'recalled' (number),
-- 'reported' (number, id of the report as taking, body), and one 'room' (number: attempts that other hosts could execute, taking:
-- milliseconds until a host that executes an offer of this one may be gone).
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
        -- Reports of an offer that another host has taken since are dropped.
        WITH told AS MATERIALIZED (
            SELECT o.id, o.host, o.number, r.last, r.body, r.place
            FROM unnest(r_host, r_number, r_taking, r_last, r_body) WITH ORDINALITY AS r (host, number, taking, last, body, place)
            JOIN offers o ON o.host = r.host AND o.number = r.number AND o.taking = r.taking AND o.taker = p_host
            -- A host that has left reads none, and its run is claimed.
            JOIN hosts h ON h.host = o.host
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
        v_news := withdraw_offers(ARRAY(SELECT id FROM offers WHERE host = p_host AND number = ANY (p_withdrawn))) OR v_news;
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
            -- Within a tenant by priority and age; between tenants in proportion to their weights.
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
