UPDATE format SET version = 7;

-- What somebody outside is told of runs. A notice outlives its run until it was delivered, so it names it by its id.
CREATE TABLE notices (
    run_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    endpoint text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    due bigint,
    body text NOT NULL,
    PRIMARY KEY (run_id, seq, endpoint)
) WITH (fillfactor = 70);
CREATE INDEX due_notices ON notices (endpoint, due, run_id, seq) WHERE due IS NOT NULL;

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

-- `append_records` of records with notices, which those chains have that are taken.
CREATE FUNCTION append_noticed(
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
    v_refused bigint[] := '{}';
    v_row record;
BEGIN
    FOR v_row IN SELECT * FROM append_records(
        c_run_id, c_epoch, c_first, c_next, c_phase, c_finished, c_open, c_host, c_workflow, c_namespace, c_priority, c_submitted,
        c_key, c_document, c_labels, c_rest, c_until, r_chain, r_first, r_events, r_time, r_body, r_checksum, a_chain, a_letter,
        a_body, d_digest, d_bytes, n_document, n_digest, n_bytes) AS a (of_chain, of_epoch, of_seq, of_holder)
    LOOP
        v_refused := v_refused || v_row.of_chain;
        RETURN QUERY SELECT v_row.of_chain, v_row.of_epoch, v_row.of_seq, v_row.of_holder;
    END LOOP;
    PERFORM keep_notices(
        (SELECT array_agg(CASE WHEN t.chain <> ALL (v_refused) THEN c_run_id[t.chain] END ORDER BY t.place)
            FROM unnest(t_chain) WITH ORDINALITY AS t (chain, place)),
        t_seq, t_endpoint, t_due, t_body);
END $$;

-- `fire_run` with the notices of the run's first record.
CREATE FUNCTION fire_noticed(
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
    v_row record;
BEGIN
    SELECT * INTO v_row FROM fire_run(
        p_shelf, p_namespace, p_name, p_from, p_due, p_body,
        c_run_id, c_epoch, c_first, c_next, c_phase, c_finished, c_open, c_host, c_workflow, c_namespace, c_priority, c_submitted,
        c_key, c_document, c_labels, c_rest, c_until, r_chain, r_first, r_events, r_time, r_body, r_checksum, a_chain, a_letter,
        a_body, d_digest, d_bytes, n_document, n_digest, n_bytes) AS f (of_verdict, of_revision, of_epoch, of_seq, of_holder);
    IF v_row.of_verdict = 'done' THEN
        PERFORM keep_notices((SELECT array_agg(c_run_id[t.chain]) FROM unnest(t_chain) AS t (chain)), t_seq, t_endpoint, t_due, t_body);
    END IF;
    RETURN QUERY SELECT v_row.of_verdict, v_row.of_revision, v_row.of_epoch, v_row.of_seq, v_row.of_holder;
END $$;

CREATE FUNCTION abandon_noticed(
    p_run_id text, p_epoch bigint, p_phase text, p_at bigint, t_seq bigint[], t_endpoint text[], t_due bigint[], t_body text[]
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_verdict text := abandon_run(p_run_id, p_epoch, p_phase, p_at);
BEGIN
    IF v_verdict = 'done' AND cardinality(t_seq) > 0 THEN
        PERFORM keep_notices(array_fill(p_run_id, ARRAY[cardinality(t_seq)]), t_seq, t_endpoint, t_due, t_body);
    END IF;
    RETURN v_verdict;
END $$;

-- What nobody has to deliver any more goes with its run, whichever of both comes first.
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

CREATE FUNCTION delete_noticed(p_run_id text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_verdict text;
BEGIN
    -- Whoever settles one of them now is waited for, or waits.
    PERFORM FROM notices WHERE run_id = p_run_id FOR UPDATE;
    v_verdict := delete_run(p_run_id);
    IF v_verdict = 'done' THEN
        DELETE FROM notices WHERE run_id = p_run_id AND due IS NULL;
    END IF;
    RETURN v_verdict;
END $$;
