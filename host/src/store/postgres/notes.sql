UPDATE format SET version = 4;

-- Why a host left a run to others, until somebody has it.
ALTER TABLE runs ADD COLUMN note text;
ALTER TABLE runs ADD COLUMN noted_at bigint;

CREATE FUNCTION forget_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.note := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER forget_note BEFORE UPDATE OF owner ON runs FOR EACH ROW
    WHEN (OLD.note IS NOT NULL AND NEW.owner IS NOT NULL) EXECUTE FUNCTION forget_note();

CREATE FUNCTION leave_run(p_run_id text, p_epoch bigint, p_wake_at bigint, p_note text, p_noted_at bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_verdict text := release_run(p_run_id, p_epoch, p_wake_at);
BEGIN
    IF v_verdict = 'done' THEN
        UPDATE runs SET note = p_note, noted_at = p_noted_at WHERE run_id = p_run_id;
    END IF;
    RETURN v_verdict;
END $$;
