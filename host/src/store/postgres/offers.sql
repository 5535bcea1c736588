UPDATE format SET version = 3;

-- Attempts that one host offers to the others. Nothing of it outlives the hosts: what is lost is offered again.
CREATE TABLE offers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    run bigint NOT NULL,
    priority bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    taker text COLLATE "C",
    taking bigint NOT NULL DEFAULT 0,
    UNIQUE (host, number)
) WITH (fillfactor = 70);
CREATE INDEX free_offers ON offers (priority DESC, id) WHERE taker IS NULL;
CREATE INDEX taken_offers ON offers (taker) WHERE taker IS NOT NULL;
CREATE INDEX offers_of_run ON offers (run);

-- What is told of them, until whoever offered them has heard it.
CREATE TABLE reports (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    last boolean NOT NULL,
    body bytea NOT NULL
);
CREATE INDEX reports_to ON reports (host, number);

-- What hosts shall not execute any more.
CREATE TABLE stops (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    taker text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    taking bigint NOT NULL
);
CREATE INDEX stops_of ON stops (taker);

-- How many attempts of others each host could execute.
CREATE TABLE rooms (host text COLLATE "C" PRIMARY KEY, room bigint NOT NULL);

CREATE FUNCTION tell_shared() RETURNS void LANGUAGE sql VOLATILE AS
    'SELECT pg_notify(current_schema() || ''.shared'', '''')';

CREATE FUNCTION void_offers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH void AS (DELETE FROM offers WHERE run = NEW.number RETURNING taker, host, number, taking)
    INSERT INTO stops (taker, host, number, taking) SELECT taker, host, number, taking FROM void WHERE taker IS NOT NULL;
    IF FOUND THEN PERFORM tell_shared(); END IF;
    RETURN NULL;
END $$;
-- Whoever claims a run has its offers for himself; appending to it touches no epoch.
CREATE TRIGGER claimed_runs AFTER UPDATE OF epoch ON runs FOR EACH ROW WHEN (OLD.epoch <> NEW.epoch)
    EXECUTE FUNCTION void_offers();

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
    p_missed boolean, h_host text[], h_number bigint[], h_taking bigint[]
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
        INSERT INTO offers (host, number, run, priority, kind, body)
        SELECT p_host, o.number, r.number, o.priority, o.kind, o.body
        FROM unnest(o_number, o_run, o_epoch, o_priority, o_kind, o_body) AS o (number, run, epoch, priority, kind, body)
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
        WITH chosen AS MATERIALIZED (
            SELECT id FROM offers WHERE taker IS NULL AND host <> p_host AND kind <> ALL (p_except)
            ORDER BY priority DESC, id LIMIT p_room FOR UPDATE SKIP LOCKED
        ), taken AS (
            UPDATE offers o SET taker = p_host, taking = o.taking + 1 FROM chosen WHERE o.id = chosen.id
            RETURNING o.id, o.host, o.number, o.taking, o.priority, o.kind, o.body
        )
        SELECT 'taken', t.host, t.number, t.taking, t.kind, t.body FROM taken t ORDER BY t.priority DESC, t.id;
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
