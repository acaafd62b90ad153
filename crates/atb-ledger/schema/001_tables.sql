-- Three append-only chains with the same columns, and the seeds that blocks have used.
-- CHECK and FOREIGN KEY are not used: both can be switched off per connection. All rules are triggers (003, 004).

CREATE TABLE entry (
    seq INTEGER PRIMARY KEY,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE gate (
    seq INTEGER PRIMARY KEY,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE refusal (
    seq INTEGER PRIMARY KEY,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE seed (
    seed TEXT PRIMARY KEY,
    entry INTEGER NOT NULL
) STRICT;

CREATE INDEX entry_key ON entry (kind, key);
CREATE INDEX gate_key ON gate (kind, key);
CREATE INDEX refusal_key ON refusal (kind, key);
