-- Tables of store format 1. The format's number is in `store_format`, which each migration raises.
CREATE TABLE store_format (version bigint NOT NULL);

-- One row a run: its lease, its state, and the end of its journal. A transaction updates the runs of a whole page: the free space of the
-- fill factor lets each new version of a row stay on its page, without new entries in every index.
CREATE TABLE runs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    workflow text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    priority bigint NOT NULL,
    submitted_at bigint NOT NULL,
    -- Idempotency key of its submission.
    key text COLLATE "C",
    labels text,
    document bigint,
    phase text NOT NULL,
    finished_at bigint,
    open boolean NOT NULL,
    -- State of a run that is not loaded: whether it waits for people only, and until when.
    rest boolean,
    rests_until bigint,
    -- Number of its events.
    seq bigint NOT NULL,
    -- Bytes of its records and logs.
    bytes bigint NOT NULL DEFAULT 0,
    -- Its lease.
    epoch bigint NOT NULL,
    owner text COLLATE "C",
    wake_at bigint,
    -- Reason why a host left it to others.
    note text,
    noted_at bigint
) WITH (fillfactor = 45);
-- Each index holds only rows that its queries could return, and no column that every record changes.
CREATE INDEX open_runs ON runs (number) WHERE open;
CREATE INDEX due_runs ON runs (wake_at, priority DESC, number) WHERE wake_at IS NOT NULL;
CREATE INDEX owned_runs ON runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX submitted_runs ON runs (submitted_at);
CREATE INDEX ended_runs ON runs (namespace, finished_at) WHERE NOT open;
CREATE INDEX runs_of_document ON runs (document);
CREATE UNIQUE INDEX submissions ON runs (namespace, key) WHERE key IS NOT NULL;
CREATE TABLE labels (
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    run bigint NOT NULL,
    PRIMARY KEY (key, value, run)
);

CREATE TABLE journal (
    run bigint NOT NULL,
    first_seq bigint NOT NULL,
    events bigint NOT NULL,
    time bigint NOT NULL,
    body bytea NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (run, first_seq)
);

-- Workflows of runs, once each, and the components that they need.
CREATE TABLE documents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest text COLLATE "C" NOT NULL UNIQUE,
    bytes bytea NOT NULL
);
CREATE TABLE components (digest text COLLATE "C" PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE needs (
    document bigint NOT NULL,
    component text COLLATE "C" NOT NULL,
    PRIMARY KEY (document, component)
);
CREATE INDEX needed ON needs (component);

-- Requests to runs, and the replies.
CREATE TABLE letters (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL,
    body bytea NOT NULL,
    reply bytea
);
CREATE INDEX letters_of_run ON letters (run, id);
CREATE INDEX unanswered ON letters (run) WHERE reply IS NULL;

-- Logs of attempts.
CREATE TABLE logs (
    run bigint NOT NULL,
    task bigint NOT NULL,
    attempt bigint NOT NULL,
    dispatch bigint NOT NULL,
    cut bigint NOT NULL,
    text bytea NOT NULL,
    PRIMARY KEY (run, task, attempt, dispatch)
);

-- Hosts that are live, and those that fell silent and still own runs. A host that leaves has no row, nor has a process that only submits.
CREATE TABLE hosts (host text COLLATE "C" PRIMARY KEY, until bigint NOT NULL);

-- Bytes of each namespace's runs, in slots so that no two connections write to the same row; and the tenants with their quotas.
CREATE TABLE stored (
    namespace text COLLATE "C" NOT NULL,
    slot bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (namespace, slot)
) WITH (fillfactor = 70);
CREATE TABLE tenants (text text NOT NULL);

-- Schedules and saved workflows, and the texts that they name.
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

-- Webhook deliveries. One outlives its run until it was delivered, so it has the run's id and not its number.
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

-- Attempts that one host offers to the others. No row has to outlive the hosts: a lost offer is made again.
CREATE TABLE offers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    run bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    -- Share of its tenant in proportion to other tenants.
    weight bigint NOT NULL,
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

-- Reports on offers, until the offering host has acknowledged them.
CREATE TABLE reports (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    last boolean NOT NULL,
    body bytea NOT NULL
);
CREATE INDEX reports_to ON reports (host, number);

-- Offers that their takers shall stop executing.
CREATE TABLE stops (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    taker text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    taking bigint NOT NULL
);
CREATE INDEX stops_of ON stops (taker);

-- Number of attempts of other hosts that each host could execute.
CREATE TABLE rooms (host text COLLATE "C" PRIMARY KEY, room bigint NOT NULL);
