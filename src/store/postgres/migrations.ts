/**
 * The schema of a store in PostgreSQL, as numbered steps that only go forward; `meta` holds the number of the newest one.
 * Each project has a schema of its own, in which the tables, their columns and so every statement are those of SQLite.
 * Texts compare byte by byte, as they do there.
 */
export const migrations: readonly string[] = [
  `
CREATE TABLE meta (key TEXT COLLATE "C" PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE session (
  key TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'closed')),
  outcome TEXT,
  branch TEXT COLLATE "C",
  place TEXT NOT NULL,
  worktree TEXT NOT NULL,
  position TEXT NOT NULL,
  started_at TEXT COLLATE "C" NOT NULL,
  updated_at TEXT COLLATE "C" NOT NULL,
  closed_at TEXT,
  interrupted_at TEXT,
  flaw TEXT,
  lease TEXT,
  seq BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  hash TEXT NOT NULL,
  common TEXT NOT NULL,
  view TEXT NOT NULL,
  view_version TEXT NOT NULL,
  checksum BIGINT NOT NULL,
  listed_checksum BIGINT,
  snapshot TEXT,
  snapshot_seq BIGINT NOT NULL,
  snapshot_version BIGINT NOT NULL,
  snapshot_checksum BIGINT NOT NULL,
  tail_bytes BIGINT NOT NULL
);
CREATE INDEX session_name ON session (name);
CREATE INDEX session_active ON session (kind, branch) WHERE status = 'active';

CREATE TABLE event (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL REFERENCES session (key),
  seq BIGINT NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  v BIGINT NOT NULL,
  lifecycle BIGINT NOT NULL,
  at TEXT COLLATE "C" NOT NULL,
  actor TEXT NOT NULL,
  place TEXT NOT NULL,
  cause TEXT COLLATE "C" NOT NULL,
  data TEXT NOT NULL,
  hash TEXT NOT NULL,
  UNIQUE (session, seq)
);
CREATE INDEX event_lifecycle ON event (session, seq) WHERE lifecycle = 1;
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'events are immutable, and kept';
END $$;
CREATE TRIGGER event_is_immutable BEFORE UPDATE OR DELETE ON event FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_is_kept BEFORE TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE request (
  id TEXT COLLATE "C" PRIMARY KEY,
  verb TEXT NOT NULL,
  actor TEXT NOT NULL,
  digest TEXT NOT NULL,
  answer TEXT NOT NULL,
  at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX request_at ON request (at);

CREATE TABLE mirror (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL REFERENCES session (key),
  place TEXT COLLATE "C" NOT NULL,
  path TEXT COLLATE "C" NOT NULL,
  source BIGINT NOT NULL,
  digest TEXT NOT NULL,
  stamp TEXT,
  at TEXT NOT NULL
);
CREATE INDEX mirror_version ON mirror (place, path);
CREATE INDEX mirror_session ON mirror (session);
CREATE INDEX mirror_unwritten ON mirror (place, path) WHERE stamp IS NULL;

CREATE TABLE process (
  rowid BIGINT GENERATED ALWAYS AS IDENTITY,
  id TEXT COLLATE "C" PRIMARY KEY,
  session TEXT COLLATE "C" NOT NULL REFERENCES session (key),
  running BIGINT NOT NULL,
  data TEXT NOT NULL,
  checksum BIGINT NOT NULL,
  heartbeat_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX process_session ON process (session);
CREATE INDEX process_running ON process (session) WHERE running = 1;

CREATE TABLE lease (
  session TEXT COLLATE "C" NOT NULL REFERENCES session (key),
  step TEXT COLLATE "C" NOT NULL,
  token BIGINT NOT NULL,
  renewed_at TEXT,
  expires_at TEXT,
  refused BIGINT NOT NULL,
  refused_token BIGINT,
  refused_at TEXT,
  PRIMARY KEY (session, step)
);
`,
  `
ALTER TABLE session ADD COLUMN paused_at TEXT;
ALTER TABLE session ADD COLUMN archived_at TEXT;
`,
  `
CREATE TABLE snapshot (
  session TEXT COLLATE "C" PRIMARY KEY REFERENCES session (key),
  seq BIGINT NOT NULL,
  version BIGINT NOT NULL,
  checksum BIGINT NOT NULL,
  state TEXT NOT NULL
);
UPDATE session SET snapshot = NULL, snapshot_seq = 0, snapshot_version = 0, snapshot_checksum = 0, tail_bytes = 0;
DROP INDEX mirror_session;
CREATE INDEX mirror_session ON mirror (session, place, path);
`,
  `
CREATE TABLE sample (
  session TEXT COLLATE "C" NOT NULL REFERENCES session (key),
  name TEXT COLLATE "C" NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (session, name)
);
`,
];

/** The schema version that this program reads and writes. */
export const schemaVersion = migrations.length;
