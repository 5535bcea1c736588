CREATE TABLE format (version bigint NOT NULL);
INSERT INTO format VALUES (1);

CREATE TABLE runs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    workflow text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    priority bigint NOT NULL,
    submitted_at bigint NOT NULL,
    key text COLLATE "C",
    phase text NOT NULL,
    finished_at bigint,
    open boolean NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    owner text COLLATE "C",
    wake_at bigint
) WITH (fillfactor = 70);
-- Only what a question could be about is in an index, and nothing that a record changes.
CREATE INDEX open_runs ON runs (priority DESC, number) WHERE open;
CREATE INDEX due_runs ON runs (wake_at, priority DESC, number) WHERE wake_at IS NOT NULL;
CREATE INDEX owned_runs ON runs (owner) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX submissions ON runs (namespace, key) WHERE key IS NOT NULL;

CREATE TABLE journal (
    run bigint NOT NULL,
    first_seq bigint NOT NULL,
    events bigint NOT NULL,
    time bigint NOT NULL,
    body bytea NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (run, first_seq)
);

CREATE TABLE components (digest text COLLATE "C" PRIMARY KEY, bytes bytea NOT NULL);

CREATE TABLE letters (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL,
    body bytea NOT NULL,
    reply bytea
);
CREATE INDEX letters_of_run ON letters (run, id);
CREATE INDEX unanswered ON letters (run) WHERE reply IS NULL;

CREATE TABLE logs (
    run bigint NOT NULL,
    task bigint NOT NULL,
    attempt bigint NOT NULL,
    dispatch bigint NOT NULL,
    cut bigint NOT NULL,
    text bytea NOT NULL,
    PRIMARY KEY (run, task, attempt, dispatch)
);

-- Every owner of a run has a row: a host that is not there is found without looking at the runs of those that are.
CREATE TABLE hosts (host text COLLATE "C" PRIMARY KEY, until bigint NOT NULL);

-- The time that leases go by, in milliseconds.
CREATE FUNCTION clock() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint';

CREATE FUNCTION tell() RETURNS void LANGUAGE sql VOLATILE AS
    'SELECT pg_notify(current_schema(), '''')';

-- Answers those of the letters that are the runs', and forgets their oldest answers.
CREATE FUNCTION leave_replies(p_run bigint[], p_letter bigint[], p_body bytea[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    UPDATE letters SET reply = a.body FROM unnest(p_run, p_letter, p_body) AS a (run, letter, body)
    WHERE letters.id = a.letter AND letters.run = a.run AND letters.reply IS NULL;
    IF FOUND THEN PERFORM tell(); END IF;
    DELETE FROM letters WHERE run = ANY (p_run) AND reply IS NOT NULL AND id <= (
        SELECT l.id FROM letters l WHERE l.run = letters.run AND l.reply IS NOT NULL ORDER BY l.id DESC OFFSET 64 LIMIT 1);
END $$;

-- Appends records of many runs. A chain is what one run gets: records that follow each other, and where the run stands after
-- them. Each is taken or refused by itself; a row is returned for each that was refused, with what stood in its way.
CREATE FUNCTION append_records(
    c_run_id text[], c_epoch bigint[], c_first bigint[], c_next bigint[], c_phase text[], c_finished bigint[], c_open boolean[],
    c_host text[], c_workflow text[], c_namespace text[], c_priority bigint[], c_submitted bigint[], c_key text[],
    r_chain bigint[], r_first bigint[], r_events bigint[], r_time bigint[], r_body bytea[], r_checksum bigint[],
    a_chain bigint[], a_letter bigint[], a_body bytea[]
) RETURNS TABLE (chain bigint, epoch bigint, seq bigint, holder text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    -- The run's number for each chain, 0 for one that is refused.
    v_runs bigint[];
BEGIN
    WITH given AS MATERIALIZED (
        SELECT * FROM unnest(c_run_id, c_epoch, c_first, c_next, c_phase, c_finished, c_open, c_host, c_workflow,
            c_namespace, c_priority, c_submitted, c_key) WITH ORDINALITY
        AS g (run_id, epoch, first, next, phase, finished, open, host, workflow, namespace, priority, submitted, key, chain)
    ), advanced AS (
        UPDATE runs SET seq = g.next, phase = g.phase, finished_at = g.finished, open = g.open,
            owner = CASE WHEN g.open THEN runs.owner END, wake_at = CASE WHEN g.open THEN runs.wake_at END
        FROM given g
        WHERE runs.run_id = g.run_id AND runs.epoch = g.epoch AND runs.seq = g.first
        RETURNING runs.run_id, runs.number
    ), created AS (
        INSERT INTO runs (run_id, workflow, namespace, priority, submitted_at, key, phase, finished_at, open, seq, epoch, owner)
        SELECT g.run_id, g.workflow, g.namespace, g.priority, g.submitted, g.key, g.phase, g.finished, g.open, g.next,
            g.epoch, CASE WHEN g.open THEN g.host END
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
        RETURN QUERY SELECT g.chain, r.epoch, r.seq, k.run_id
        FROM unnest(c_run_id, c_namespace, c_key) WITH ORDINALITY AS g (run_id, namespace, key, chain)
        LEFT JOIN runs r ON r.run_id = g.run_id
        LEFT JOIN runs k ON k.namespace = g.namespace AND k.key = g.key
        WHERE v_runs[g.chain] = 0;
    END IF;
END $$;

-- `p_clock` stands in for the database's clock in tests.
CREATE FUNCTION claim_runs(p_host text, p_now bigint, p_clock bigint, p_limit bigint, p_except text[])
RETURNS TABLE (
    run_id text, workflow text, namespace text, priority bigint, submitted_at bigint, key text, epoch bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_clock bigint := coalesce(p_clock, clock());
BEGIN
    INSERT INTO hosts (host, until) VALUES (p_host, 0) ON CONFLICT DO NOTHING;
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
    SELECT l.run_id, l.workflow, l.namespace, l.priority, l.submitted_at, l.key, l.epoch
    FROM lent l ORDER BY l.at, l.priority DESC, l.number;
END $$;

CREATE FUNCTION claim_run(p_host text, p_run_id text, p_clock bigint)
RETURNS TABLE (
    verdict text, run_id text, workflow text, namespace text, priority bigint, submitted_at bigint, key text, epoch bigint,
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
        v_run.epoch, v_run.owner;
END $$;

CREATE FUNCTION release_run(p_run_id text, p_epoch bigint, p_wake_at bigint) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
BEGIN
    UPDATE runs SET owner = NULL, wake_at = CASE WHEN open THEN p_wake_at END
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

-- A host that is there counts with the time until which it is: it may be gone then, and have runs.
CREATE FUNCTION next_due(p_host text, p_now bigint, p_clock bigint, p_except text[]) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_clock bigint := coalesce(p_clock, clock());
BEGIN
    RETURN least(
        (SELECT wake_at FROM runs WHERE wake_at IS NOT NULL AND run_id <> ALL (p_except)
            ORDER BY wake_at, priority DESC, number LIMIT 1),
        (SELECT 0 FROM runs WHERE open AND owner IS NULL AND run_id <> ALL (p_except)
            AND number IN (SELECT run FROM letters WHERE reply IS NULL) LIMIT 1),
        (SELECT min(h.until - v_clock + p_now) FROM hosts h WHERE h.host <> p_host AND (h.until > v_clock
            OR EXISTS (SELECT FROM runs WHERE owner = h.host AND run_id <> ALL (p_except)))));
END $$;

CREATE FUNCTION heartbeat(p_host text, p_until bigint, p_lease bigint) RETURNS void LANGUAGE plpgsql AS $$
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
    -- Locked against the record that ends the run, and against other letters.
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
BEGIN
    SELECT number INTO v_run FROM runs WHERE run_id = p_run_id AND epoch = p_epoch FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM runs WHERE run_id = p_run_id) THEN 'fenced' ELSE 'none' END;
    END IF;
    INSERT INTO logs (run, task, attempt, dispatch, cut, text)
    VALUES (v_run, p_task, p_attempt, p_dispatch, p_cut, p_text)
    ON CONFLICT (run, task, attempt, dispatch) DO UPDATE SET cut = excluded.cut, text = excluded.text;
    RETURN 'done';
END $$;

CREATE FUNCTION delete_run(p_run_id text) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_run bigint;
    v_open boolean;
BEGIN
    SELECT number, open INTO v_run, v_open FROM runs WHERE run_id = p_run_id FOR UPDATE;
    IF NOT FOUND THEN RETURN 'none'; END IF;
    IF v_open THEN RETURN 'open'; END IF;
    DELETE FROM journal WHERE run = v_run;
    DELETE FROM letters WHERE run = v_run;
    DELETE FROM logs WHERE run = v_run;
    DELETE FROM runs WHERE number = v_run;
    RETURN 'done';
END $$;
