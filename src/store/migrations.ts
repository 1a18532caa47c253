/**
 * The schema of a SQLite store, as numbered steps that only go forward. A step that was released is never edited; the
 * number of the newest one is the store's `PRAGMA user_version`.
 */
export const migrations: readonly string[] = [
  `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

-- One row a session: columns for lists, and projections of its events, which are made anew where the checksum fails.
CREATE TABLE session (
  key TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'closed')),
  outcome TEXT,
  branch TEXT,
  place TEXT NOT NULL,
  worktree TEXT NOT NULL,
  position TEXT NOT NULL,
  started_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  closed_at TEXT,
  seq INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  hash TEXT NOT NULL,
  common TEXT NOT NULL,
  view TEXT NOT NULL,
  view_version TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  snapshot TEXT,
  snapshot_seq INTEGER NOT NULL,
  snapshot_version INTEGER NOT NULL,
  snapshot_checksum INTEGER NOT NULL,
  tail_bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX session_name ON session (name);
CREATE INDEX session_active ON session (kind, branch) WHERE status = 'active';

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES session (key),
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  v INTEGER NOT NULL,
  lifecycle INTEGER NOT NULL,
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  place TEXT NOT NULL,
  cause TEXT NOT NULL,
  data TEXT NOT NULL,
  hash TEXT NOT NULL,
  UNIQUE (session, seq)
) STRICT;
CREATE INDEX event_lifecycle ON event (session, seq) WHERE lifecycle = 1;
CREATE TRIGGER event_is_immutable BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;
CREATE TRIGGER event_is_kept BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are kept'); END;

CREATE TABLE request (
  id TEXT PRIMARY KEY,
  verb TEXT NOT NULL,
  actor TEXT NOT NULL,
  digest TEXT NOT NULL,
  answer TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX request_at ON request (at);

-- Every version that was made of each mirror; stamp is what the file looked like when it was last known to be right.
CREATE TABLE mirror (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES session (key),
  place TEXT NOT NULL,
  path TEXT NOT NULL,
  source INTEGER NOT NULL,
  digest TEXT NOT NULL,
  stamp TEXT,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX mirror_version ON mirror (place, path);
CREATE INDEX mirror_session ON mirror (session);
CREATE INDEX mirror_unwritten ON mirror (place, path) WHERE stamp IS NULL;
`,
  `
-- Columns of lists are checked by themselves: lists do not read the projections.
ALTER TABLE session ADD COLUMN interrupted_at TEXT;
ALTER TABLE session ADD COLUMN flaw TEXT;
ALTER TABLE session ADD COLUMN listed_checksum INTEGER;

-- What the events say of each process, and when it was last heard of, which no event says.
CREATE TABLE process (
  id TEXT PRIMARY KEY,
  session TEXT NOT NULL REFERENCES session (key),
  running INTEGER NOT NULL,
  data TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  heartbeat_at TEXT NOT NULL
) STRICT;
CREATE INDEX process_session ON process (session);
CREATE INDEX process_running ON process (session) WHERE running = 1;
`,
  `
-- Who holds a session, as its events say: lists and resolution ask for it.
ALTER TABLE session ADD COLUMN lease TEXT;

-- What is kept beside the log of a lease (an empty step) and of the claim of a step: when it was renewed, and which writes
-- were refused under which token.
CREATE TABLE lease (
  session TEXT NOT NULL REFERENCES session (key),
  step TEXT NOT NULL,
  token INTEGER NOT NULL,
  renewed_at TEXT,
  expires_at TEXT,
  refused INTEGER NOT NULL,
  refused_token INTEGER,
  refused_at TEXT,
  PRIMARY KEY (session, step)
) STRICT;
`,
  `
-- Since when a session is paused, and since when it lies in the archive: lists say it.
ALTER TABLE session ADD COLUMN paused_at TEXT;
ALTER TABLE session ADD COLUMN archived_at TEXT;
`,
  `
-- The state of each session's kind at one of its events, apart from the row, which every commit writes. Those of before are
-- made anew with their rows; their columns stay for older programs, which read on.
CREATE TABLE snapshot (
  session TEXT PRIMARY KEY REFERENCES session (key),
  seq INTEGER NOT NULL,
  version INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;
UPDATE session SET snapshot = NULL, snapshot_seq = 0, snapshot_version = 0, snapshot_checksum = 0, tail_bytes = 0;

-- The newest versions of a session's mirrors, of which there may be one for every commit, are found in it alone.
DROP INDEX mirror_session;
CREATE INDEX mirror_session ON mirror (session, place, path);
`,
  `
-- Values that come too often for events, the newest of each name: how far somebody is, how much was used.
CREATE TABLE sample (
  session TEXT NOT NULL REFERENCES session (key),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (session, name)
) STRICT;
`,
];

/** The steps that a store of that version has not taken yet; 0 for a new one. */
export const migrationsFrom = (version: number): readonly string[] => migrations.slice(version);
