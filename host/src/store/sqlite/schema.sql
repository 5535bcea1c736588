-- Store format 1.

-- One row a run: its lease, its state, and the end of its journal.
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    workflow TEXT NOT NULL,
    namespace TEXT NOT NULL,
    priority INTEGER NOT NULL,
    submitted_at INTEGER NOT NULL,
    phase TEXT NOT NULL,
    finished_at INTEGER,
    open INTEGER NOT NULL,
    -- Number of its events.
    seq INTEGER NOT NULL,
    last_record INTEGER,
    -- Its lease.
    epoch INTEGER NOT NULL DEFAULT 1,
    owner TEXT,
    wake_at INTEGER,
    -- Idempotency key of its submission.
    key TEXT,
    document INTEGER,
    -- State of a run that is not loaded: whether it waits for people only, and until when.
    rest INTEGER,
    rests_until INTEGER,
    labels TEXT,
    -- Reason why a host left it to others.
    note TEXT,
    noted_at INTEGER,
    -- Bytes of its records and logs.
    bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
-- Each index holds only rows that its queries could return, so that neither ended runs nor those that wait for people are in their way.
CREATE INDEX open_runs ON runs (owner, number) WHERE open;
CREATE INDEX due_runs ON runs (wake_at, priority DESC, number) WHERE wake_at IS NOT NULL;
CREATE INDEX submitted_runs ON runs (submitted_at);
CREATE INDEX ended_runs ON runs (namespace, finished_at) WHERE NOT open;
CREATE INDEX runs_of_document ON runs (document);
CREATE UNIQUE INDEX submissions ON runs (namespace, key) WHERE key IS NOT NULL;
CREATE TABLE deleted_runs (highest INTEGER NOT NULL) STRICT;
INSERT INTO deleted_runs VALUES (0);
CREATE TABLE labels (
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (key, value, run)
) STRICT, WITHOUT ROWID;

-- Records of all runs under ascending keys, each with the key of its run's previous record.
CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    previous INTEGER,
    first_seq INTEGER NOT NULL,
    events INTEGER NOT NULL,
    time INTEGER NOT NULL,
    body BLOB NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;

-- Workflows of runs, once each, and the components that they need. A large row has pages of its own.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL UNIQUE,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE components (
    digest TEXT NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE needs (
    document INTEGER NOT NULL,
    component TEXT NOT NULL,
    PRIMARY KEY (document, component)
) STRICT, WITHOUT ROWID;
CREATE INDEX needed ON needs (component);

-- Requests to runs, and the replies.
CREATE TABLE letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL,
    body BLOB NOT NULL,
    reply BLOB
) STRICT;
CREATE INDEX letters_of_run ON letters (run, id);
CREATE INDEX unanswered ON letters (run) WHERE reply IS NULL;

-- Logs of attempts.
CREATE TABLE logs (
    run INTEGER NOT NULL,
    task INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    dispatch INTEGER NOT NULL,
    cut INTEGER NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (run, task, attempt, dispatch)
) STRICT, WITHOUT ROWID;

-- Schedules and saved workflows, and the texts that they name.
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    shelf TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    due INTEGER,
    body TEXT NOT NULL,
    UNIQUE (shelf, namespace, name)
) STRICT;
CREATE INDEX due_entries ON entries (due, shelf, namespace, name) WHERE due IS NOT NULL;
CREATE TABLE texts (
    digest TEXT NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE mentions (
    shelf TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (shelf, namespace, name, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentioned ON mentions (digest);
CREATE TABLE revisions (last INTEGER NOT NULL) STRICT;
INSERT INTO revisions VALUES (0);

-- Bytes of each namespace's runs, added up once a transaction; and the tenants with their quotas.
CREATE TABLE stored (
    namespace TEXT NOT NULL PRIMARY KEY,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE tenants (text TEXT NOT NULL) STRICT;

-- Webhook deliveries. One outlives its run until it was delivered, so it has the run's id and not its number.
CREATE TABLE notices (
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    revision INTEGER NOT NULL,
    due INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq, endpoint)
) STRICT, WITHOUT ROWID;
CREATE INDEX due_notices ON notices (endpoint, due, run_id, seq) WHERE due IS NOT NULL;
