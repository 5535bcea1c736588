UPDATE format SET version = 5;

-- What is kept by a name besides runs, and the texts that it names.
CREATE SEQUENCE revisions;
CREATE TABLE entries (
    shelf text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    due bigint,
    body text NOT NULL,
    PRIMARY KEY (shelf, namespace, name)
) WITH (fillfactor = 70);
CREATE INDEX due_entries ON entries (due, shelf, namespace, name) WHERE due IS NOT NULL;
CREATE TABLE texts (digest text COLLATE "C" PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE mentions (
    shelf text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    size bigint NOT NULL,
    PRIMARY KEY (shelf, namespace, name, digest)
);
CREATE INDEX mentioned ON mentions (digest);

CREATE FUNCTION tell_entries() RETURNS void LANGUAGE sql VOLATILE AS
    'SELECT pg_notify(current_schema() || ''.entries'', '''')';

-- The entry names these texts and no others. Whoever calls this has locked the texts.
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

-- `t_digest` is null where the texts stay as they are. How many other entries there are, and the bytes of their texts, is told to who
-- asked beyond a limit.
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
    -- Texts come and go seldom: who names some is alone.
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

-- What `append_records` does for one new run, and another revision of an entry: both or neither.
CREATE FUNCTION fire_run(
    p_shelf text, p_namespace text, p_name text, p_from bigint, p_due bigint, p_body text,
    c_run_id text[], c_epoch bigint[], c_first bigint[], c_next bigint[], c_phase text[], c_finished bigint[], c_open boolean[],
    c_host text[], c_workflow text[], c_namespace text[], c_priority bigint[], c_submitted bigint[], c_key text[],
    c_document text[], c_labels text[], c_rest boolean[], c_until bigint[],
    r_chain bigint[], r_first bigint[], r_events bigint[], r_time bigint[], r_body bytea[], r_checksum bigint[],
    a_chain bigint[], a_letter bigint[], a_body bytea[],
    d_digest text[], d_bytes bytea[], n_document text[], n_digest text[], n_bytes bytea[]
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
        a_body, d_digest, d_bytes, n_document, n_digest, n_bytes) AS a;
    IF FOUND THEN
        RETURN QUERY SELECT 'refused', 0::bigint, v_refused.epoch, v_refused.seq, v_refused.holder;
        RETURN;
    END IF;
    RETURN QUERY SELECT 'done', write_entry(p_shelf, p_namespace, p_name, p_due, p_body), NULL::bigint, NULL::bigint, NULL::text;
END $$;
