/**
 * Databases of Open Code Review, of every schema that was released (1 to 14) and of its fork (15 to 23), as real SQLite
 * files. The tables are those of the versions, in words of our own; what is not needed to read sessions is there too, so
 * that a reader meets everything that it would meet.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

/** Columns of a row, by name. */
export type NewRow = Readonly<Record<string, SQLInputValue>>;

/** What a database is filled with. */
export interface OcrContents {
  /** 1 to 14 are those of the original, 15 to 23 those of the fork. */
  readonly version: number;
  /** Rows of `sessions`: `id` alone does; what else is NOT NULL is filled in. */
  readonly sessions?: readonly NewRow[];
  /** Rows of `orchestration_events`, of any type: they are written before the triggers are made. */
  readonly events?: readonly NewRow[];
  /** Rows of `command_executions`, at schema 10 of `agent_sessions`. */
  readonly executions?: readonly NewRow[];
}

/** The schemas there are. */
export const ocrVersions: readonly number[] = Array.from({ length: 23 }, (_, index) => index + 1);

/** Makes the database of a project, `.ocr/data/ocr.db`, with the folders that the original wants; returns its path. */
export const makeOcrProject = (project: string, contents: OcrContents): string => {
  const path = join(project, '.ocr/data/ocr.db');
  for (const folder of ['.ocr/data', '.ocr/skills', '.ocr/sessions'])
    mkdirSync(join(project, folder), { recursive: true });
  makeOcrDatabase(path, contents);
  return path;
};

/** Makes a database; nothing may be at the path. */
const makeOcrDatabase = (path: string, { version, sessions, events, executions }: OcrContents): void => {
  mkdirSync(dirname(path), { recursive: true });
  // Rows that belong to nothing occur in the wild: the first versions, on sql.js, did not check.
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  try {
    // sql.js wrote whole files; write-ahead logging came with version 2.
    if (version >= 12) database.exec('PRAGMA journal_mode = WAL');
    // Each statement by itself would wait for the disk.
    database.exec('BEGIN');
    for (const statement of tablesOf(version)) database.exec(statement);
    const insert = (table: string, row: NewRow): void => {
      const columns = Object.keys(row);
      database
        .prepare(
          `INSERT INTO ${table} (${columns.map((column) => `"${column}"`).join(', ')})
           VALUES (${columns.map(() => '?').join(', ')})`,
        )
        .run(...Object.values(row));
    };
    for (let step = 1; step <= version; step += 1)
      insert('schema_version', { version: step, applied_at: '2026-03-01 08:00:00', description: `step ${step}` });
    for (const row of sessions ?? [])
      insert('sessions', {
        branch: 'main',
        workflow_type: 'review',
        session_dir: `.ocr/sessions/${String(row['id'])}`,
        ...row,
      });
    for (const row of events ?? []) insert('orchestration_events', row);
    for (const row of executions ?? []) {
      if (version === 10) insert('agent_sessions', row);
      else insert('command_executions', { command: 'ocr review', ...row });
    }
    for (const statement of guardsOf(version)) database.exec(statement);
    database.exec('COMMIT');
  } finally {
    database.close();
  }
};

const now = `TEXT NOT NULL DEFAULT (datetime('now'))`;

/** The columns and constraints that a version has: each with the versions from which on, and before which, it is there. */
type Part = readonly [text: string, from?: number, before?: number];

const table = (version: number, name: string, parts: readonly Part[], from = 1, before = Infinity): readonly string[] =>
  version < from || version >= before
    ? []
    : [
        `CREATE TABLE ${name} (${parts
          .filter(([, since = 1, until = Infinity]) => version >= since && version < until)
          .map(([text]) => text)
          .join(', ')})`,
      ];

const agentColumns = (from: number): readonly Part[] =>
  [
    'vendor TEXT',
    'vendor_session_id TEXT',
    'persona TEXT',
    'instance_index INTEGER',
    'name TEXT',
    'resolved_model TEXT',
    'last_heartbeat_at TEXT',
    'notes TEXT',
  ].map((column): Part => [column, from]);

const tablesOf = (version: number): readonly string[] => [
  ...table(version, 'schema_version', [
    ['version INTEGER PRIMARY KEY'],
    [`applied_at ${now}`],
    ['description TEXT NOT NULL'],
  ]),
  ...table(version, 'sessions', [
    ['id TEXT PRIMARY KEY'],
    ['branch TEXT NOT NULL'],
    [`status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'closed'))`],
    [`workflow_type TEXT NOT NULL CHECK (workflow_type IN ('review', 'map'))`],
    [`current_phase TEXT NOT NULL DEFAULT 'context'`],
    ['phase_number INTEGER NOT NULL DEFAULT 1'],
    ['current_round INTEGER NOT NULL DEFAULT 1'],
    ['current_map_run INTEGER NOT NULL DEFAULT 1'],
    [`started_at ${now}`],
    [`updated_at ${now}`],
    ['session_dir TEXT NOT NULL'],
    ...['base_ref TEXT', 'head_ref TEXT', 'head_sha TEXT', 'pr_number INTEGER', 'pr_url TEXT'].map((column): Part => [
      column,
      15,
    ]),
    ['requirements_source_url TEXT', 16],
    ['requirements_updated_at TEXT', 16],
    ['retired_at TEXT', 18],
    ['pr_author TEXT', 19],
  ]),
  ...table(version, 'orchestration_events', [
    ['id INTEGER PRIMARY KEY AUTOINCREMENT'],
    ['session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE', 1, 5],
    ['session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE RESTRICT', 5],
    ['event_type TEXT NOT NULL'],
    ['phase TEXT'],
    ['phase_number INTEGER'],
    ['round INTEGER'],
    ['metadata TEXT'],
    [`created_at ${now}`],
  ]),
  ...table(version, 'command_executions', [
    ['id INTEGER PRIMARY KEY AUTOINCREMENT'],
    ['command TEXT NOT NULL'],
    ['args TEXT'],
    ['exit_code INTEGER'],
    [`started_at ${now}`],
    ['finished_at TEXT'],
    ['output TEXT'],
    ['pid INTEGER', 3],
    ['is_detached INTEGER NOT NULL DEFAULT 0', 4],
    ['uid TEXT', 9],
    ['workflow_id TEXT REFERENCES sessions (id) ON DELETE RESTRICT', 11],
    ['parent_id INTEGER REFERENCES command_executions (id)', 11, 13],
    ...agentColumns(11),
  ]),
  ...table(
    version,
    'agent_sessions',
    [
      ['id TEXT PRIMARY KEY'],
      ['workflow_id TEXT REFERENCES sessions (id) ON DELETE RESTRICT'],
      ...agentColumns(1),
      ['phase TEXT'],
      [`status TEXT NOT NULL DEFAULT 'running'`],
      ['pid INTEGER'],
      [`started_at ${now}`],
      ['ended_at TEXT'],
      ['exit_code INTEGER'],
    ],
    10,
    11,
  ),
  ...artifactsOf(version),
];

/** What was read of files, and what people noted: nothing of it is lifecycle. */
const artifactsOf = (version: number): readonly string[] => [
  ...table(version, 'review_rounds', [
    ['id INTEGER PRIMARY KEY AUTOINCREMENT'],
    ['session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE'],
    ['round_number INTEGER NOT NULL'],
    ['verdict TEXT'],
    ['blocker_count INTEGER DEFAULT 0'],
    ['suggestion_count INTEGER DEFAULT 0'],
    ['should_fix_count INTEGER DEFAULT 0'],
    ['final_md_path TEXT'],
    ['parsed_at TEXT'],
    ['source TEXT', 6],
    ['reviewer_count INTEGER DEFAULT 0', 6],
    ['total_finding_count INTEGER DEFAULT 0', 6],
    ['posted_at TEXT', 20],
    ['posted_url TEXT', 20],
    ['posted_state TEXT', 20],
    ['UNIQUE (session_id, round_number)'],
  ]),
  ...table(version, 'reviewer_outputs', [
    ['id INTEGER PRIMARY KEY AUTOINCREMENT'],
    ['round_id INTEGER NOT NULL REFERENCES review_rounds (id) ON DELETE CASCADE'],
    ['reviewer_type TEXT NOT NULL'],
    ['instance_number INTEGER NOT NULL DEFAULT 1'],
    ['file_path TEXT'],
    ['finding_count INTEGER DEFAULT 0'],
    ['parsed_at TEXT'],
    ['UNIQUE (round_id, reviewer_type, instance_number)'],
  ]),
  ...table(version, 'review_findings', [
    ['id INTEGER PRIMARY KEY AUTOINCREMENT'],
    ['reviewer_output_id INTEGER NOT NULL REFERENCES reviewer_outputs (id) ON DELETE CASCADE'],
    ['title TEXT NOT NULL'],
    [`severity TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info'))`],
    ['file_path TEXT'],
    ['line_start INTEGER'],
    ['line_end INTEGER'],
    ['summary TEXT'],
    ['is_blocker INTEGER DEFAULT 0'],
    ['parsed_at TEXT'],
    ['category TEXT', 7],
  ]),
  ...table(version, 'markdown_artifacts', [
    ['id INTEGER PRIMARY KEY AUTOINCREMENT'],
    ['session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE'],
    ['artifact_type TEXT NOT NULL'],
    ['round_number INTEGER'],
    ['file_path TEXT NOT NULL'],
    ['content TEXT NOT NULL'],
    ['parsed_at TEXT'],
    ['UNIQUE (session_id, artifact_type, round_number, file_path)'],
  ]),
  ...table(version, 'map_runs', [
    ['id INTEGER PRIMARY KEY AUTOINCREMENT'],
    ['session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE'],
    ['run_number INTEGER NOT NULL'],
    ['file_count INTEGER DEFAULT 0'],
    ['map_md_path TEXT'],
    ['parsed_at TEXT'],
    ['source TEXT', 8],
    ['section_count INTEGER DEFAULT 0', 8],
    ['UNIQUE (session_id, run_number)'],
  ]),
  ...table(version, 'user_notes', [
    ['id INTEGER PRIMARY KEY AUTOINCREMENT'],
    ['target_type TEXT NOT NULL'],
    ['target_id TEXT NOT NULL'],
    ['content TEXT NOT NULL'],
    [`created_at ${now}`],
    [`updated_at ${now}`],
  ]),
  ...table(
    version,
    'chat_conversations',
    [
      ['id TEXT PRIMARY KEY'],
      ['session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE'],
      ['target_type TEXT NOT NULL'],
      ['target_id INTEGER NOT NULL'],
      [`status TEXT NOT NULL DEFAULT 'active'`],
    ],
    2,
  ),
  ...table(version, 'finding_revisions', [['id INTEGER PRIMARY KEY'], ['finding_id INTEGER NOT NULL']], 17),
  ...table(
    version,
    'synthesis_findings',
    [['id INTEGER PRIMARY KEY'], ['round_id INTEGER NOT NULL'], ['title TEXT NOT NULL'], ['prior_json TEXT', 23]],
    21,
  ),
];

const reasons = `'session_aborted', 'session_auto_closed_stale', 'session_synced', 'session_legacy_import'`;

/** Indexes, and from schema 12 on the triggers and the view that guard the lifecycle. */
const guardsOf = (version: number): readonly string[] => [
  'CREATE INDEX idx_sessions_status ON sessions (status)',
  'CREATE INDEX idx_orchestration_events_session ON orchestration_events (session_id)',
  ...(version >= 9 ? ['CREATE UNIQUE INDEX idx_command_executions_uid ON command_executions (uid)'] : []),
  ...(version >= 12
    ? [
        `CREATE TRIGGER trg_events_known_type BEFORE INSERT ON orchestration_events
         WHEN NEW.event_type NOT IN ('session_created', 'session_resumed', 'round_started', 'phase_transition',
           'round_completed', 'map_completed', 'session_closed', ${reasons})
         BEGIN SELECT RAISE(ABORT, 'unknown orchestration_events.event_type'); END`,
        `CREATE TRIGGER trg_sessions_close_guard BEFORE UPDATE OF status ON sessions
         WHEN NEW.status = 'closed' AND OLD.status <> 'closed' AND NOT EXISTS (
           SELECT 1 FROM orchestration_events AS e WHERE e.session_id = NEW.id AND (
             (NEW.workflow_type = 'review' AND e.event_type = 'round_completed' AND e.round = NEW.current_round)
             OR (NEW.workflow_type = 'map' AND e.event_type = 'map_completed' AND e.round = NEW.current_map_run)
             OR e.event_type IN (${reasons})))
         BEGIN SELECT RAISE(ABORT, 'session closed without a completion'); END`,
        `CREATE VIEW session_completeness AS
         SELECT s.id AS session_id, s.workflow_type, s.status, s.current_round, s.current_map_run,
           s.status = 'closed' AS marked_closed,
           EXISTS (SELECT 1 FROM orchestration_events AS e WHERE e.session_id = s.id AND (
             (s.workflow_type = 'review' AND e.event_type = 'round_completed' AND e.round = s.current_round)
             OR (s.workflow_type = 'map' AND e.event_type = 'map_completed' AND e.round = s.current_map_run)
           )) AS has_terminal_artifact
         FROM sessions AS s`,
      ]
    : []),
  ...(version >= 14
    ? [
        `CREATE UNIQUE INDEX idx_markdown_artifacts_logical
         ON markdown_artifacts (session_id, artifact_type, IFNULL(round_number, -1), file_path)`,
      ]
    : []),
];
