import { storeError } from '../store-errors.ts';
import type { Database } from './database.ts';

/**
 * Migrates a file to the newest version, each step in a transaction of its own. A published step is
 * never changed: existing files ran it.
 */
export function migrate(database: Database, now: () => number, steps: readonly string[] = STEPS): void {
  database.exec('CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)');
  const row = database.prepare<{ version: number | null }>('SELECT max(version) AS version FROM migrations').get();
  const current = row?.version ?? 0;
  if (current > steps.length) {
    const forms = `its tables have form ${current}, and this version knows ${steps.length}`;
    throw storeError('store_too_new', `${database.path} was written by a newer version of Fleetloom (${forms})`);
  }
  for (const [index, step] of steps.entries()) {
    if (index < current) continue;
    database.transaction(() => {
      database.exec(step);
      database.prepare('INSERT INTO migrations (version, applied_at) VALUES (?, ?)').run(index + 1, now());
    });
  }
}

// Large columns come last in their tables: what stands before them is found without reading them.
const STEPS = [
  `
  CREATE TABLE agents (
    id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, version INTEGER NOT NULL,
    created_at INTEGER NOT NULL, archived_at INTEGER
  ) STRICT;
  CREATE INDEX agents_by_creation ON agents (workspace_id, created_at, id);

  CREATE TABLE agent_versions (
    agent_id TEXT NOT NULL REFERENCES agents ON DELETE CASCADE, version INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (agent_id, version)
  ) STRICT;

  CREATE TABLE environments (
    id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, archived_at INTEGER, data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX environments_by_creation ON environments (workspace_id, created_at, id);

  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL,
    agent_id TEXT NOT NULL, agent_version INTEGER NOT NULL, environment_id TEXT NOT NULL,
    status TEXT NOT NULL, revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, archived_at INTEGER, data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_by_creation ON sessions (workspace_id, created_at, id);
  CREATE INDEX sessions_busy ON sessions (key) WHERE status IN ('running', 'rescheduling');

  -- Apart from the sessions, because leases are renewed all the time and sessions are large.
  CREATE TABLE owners (
    session_key INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    fence INTEGER NOT NULL, owner TEXT, expires_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE segments (
    id INTEGER PRIMARY KEY, session_key INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, data BLOB NOT NULL,
    UNIQUE (session_key, first_seq)
  ) STRICT;

  CREATE TABLE threads (
    session_key INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, parent_thread_id TEXT,
    status TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, archived_at INTEGER,
    data TEXT NOT NULL,
    PRIMARY KEY (session_key, id)
  ) STRICT;

  -- AUTOINCREMENT: the position of an input that was taken up is never given to another one.
  CREATE TABLE inputs (
    position INTEGER PRIMARY KEY AUTOINCREMENT, session_key INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    id TEXT NOT NULL, thread_id TEXT, time INTEGER NOT NULL, data TEXT NOT NULL,
    UNIQUE (session_key, id)
  ) STRICT;

  CREATE TABLE approvals (
    session_key INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, workspace_id TEXT NOT NULL,
    thread_id TEXT NOT NULL, created_at INTEGER NOT NULL, resolved_at INTEGER, resolution TEXT, data TEXT NOT NULL,
    PRIMARY KEY (session_key, id)
  ) STRICT;
  CREATE INDEX approvals_by_creation ON approvals (workspace_id, created_at, id);

  CREATE TABLE idempotency_keys (
    workspace_id TEXT NOT NULL, key TEXT NOT NULL, expires_at INTEGER NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (workspace_id, key)
  ) STRICT;
  CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
  `,
  `
  CREATE TABLE works (
    id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, environment_id TEXT NOT NULL,
    session_key INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, session_id TEXT NOT NULL,
    state TEXT NOT NULL, revision INTEGER NOT NULL, created_at INTEGER NOT NULL,
    claimed_at INTEGER, leased_until INTEGER, data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX works_by_creation ON works (environment_id, created_at, id);
  CREATE INDEX works_open ON works (environment_id, created_at, id) WHERE state <> 'stopped';
  CREATE INDEX works_by_session ON works (session_key) WHERE state <> 'stopped';
  -- Before there was a queue, sessions of self-hosted environments had none to be in: their next input queues them.
  `,
  `
  CREATE INDEX IF NOT EXISTS sessions_by_update ON sessions (workspace_id, updated_at);
  `,
  `
  CREATE TABLE documents (
    kind TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, updated_at INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT;

  -- Without an id while it is written. AUTOINCREMENT: a reader of a deleted blob never gets the parts of another.
  CREATE TABLE blobs (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, parts INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE blob_parts (
    id INTEGER PRIMARY KEY, blob_key INTEGER NOT NULL REFERENCES blobs ON DELETE CASCADE, part INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (blob_key, part)
  ) STRICT;
  `,
  `
  -- Where each run lies in its log. Of sessions that are older than this table the newest run is known, and not its place: 0.
  CREATE TABLE runs (
    session_key INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, first_seq INTEGER NOT NULL, last_seq INTEGER,
    started_at INTEGER NOT NULL, ended_at INTEGER, id TEXT NOT NULL, session_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL, list_id TEXT NOT NULL,
    PRIMARY KEY (session_key, first_seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX runs_by_id ON runs (session_key, id);
  CREATE INDEX runs_by_start ON runs (workspace_id, started_at, list_id);
  CREATE INDEX runs_open ON runs (workspace_id, started_at, list_id) WHERE ended_at IS NULL;
  INSERT INTO runs
    SELECT key, 0, NULL, json_extract(data, '$.run.started_at'), json_extract(data, '$.run.ended_at'),
      json_extract(data, '$.run.id'), id, workspace_id, id || ' 0000000000000000'
    FROM sessions WHERE typeof(json_extract(data, '$.run.id')) = 'text'
      AND typeof(json_extract(data, '$.run.started_at')) = 'integer'
      AND typeof(json_extract(data, '$.run.ended_at')) IN ('integer', 'null');

  -- Segments in which there is more than deltas.
  CREATE TABLE event_segments (
    session_key INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, first_seq INTEGER NOT NULL,
    PRIMARY KEY (session_key, first_seq)
  ) STRICT, WITHOUT ROWID;

  -- Those that wait are few among all that ever did.
  CREATE INDEX IF NOT EXISTS approvals_pending ON approvals (workspace_id, created_at, id) WHERE resolved_at IS NULL;

  -- Sessions of which the two tables above do not say everything yet.
  CREATE TABLE unindexed (session_key INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE) STRICT;
  INSERT INTO unindexed SELECT key FROM sessions;

  CREATE TABLE checkpoints (
    session_key INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, kind TEXT NOT NULL, seq INTEGER NOT NULL,
    has_deltas INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (session_key, kind, seq)
  ) STRICT;
  -- How often frames of a session were pruned.
  CREATE TABLE prunes (
    session_key INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE, epoch INTEGER NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE documents ADD COLUMN workspace_id TEXT
    GENERATED ALWAYS AS (CASE WHEN kind IN ('file', 'login') THEN json_extract(data, '$.workspaceId') END) VIRTUAL;
  CREATE INDEX documents_by_workspace ON documents (kind, workspace_id, id) WHERE workspace_id IS NOT NULL;
  `,
  `
  -- One row for each session, by which lists filter, sort and count. Sessions that are older get theirs in the background.
  CREATE TABLE summaries (
    session_key INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE, session_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL, state TEXT NOT NULL, stalls_at INTEGER, agent_name TEXT NOT NULL, model TEXT NOT NULL,
    created_at INTEGER NOT NULL, activity_at INTEGER NOT NULL, cost INTEGER, tokens INTEGER NOT NULL,
    active_ms INTEGER NOT NULL, search TEXT NOT NULL, data TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX summaries_by_id ON summaries (workspace_id, session_id);
  CREATE INDEX summaries_by_activity ON summaries (workspace_id, activity_at, session_id);
  CREATE INDEX summaries_by_creation ON summaries (workspace_id, created_at, session_id);
  -- Has everything that counts need, so that they read no row.
  CREATE INDEX summaries_by_state ON summaries (
    workspace_id, state, agent_name, model, stalls_at, created_at, activity_at, cost, session_id
  );
  `,
  `
  -- Vaults are listed by their workspace, credentials by their vault.
  DROP INDEX documents_by_workspace;
  ALTER TABLE documents DROP COLUMN workspace_id;
  ALTER TABLE documents ADD COLUMN workspace_id TEXT GENERATED ALWAYS AS (
    CASE WHEN kind IN ('file', 'login', 'vault') THEN json_extract(data, '$.workspaceId')
      WHEN kind = 'vault_credential' THEN json_extract(data, '$.vaultId') END
  ) VIRTUAL;
  CREATE INDEX documents_by_workspace ON documents (kind, workspace_id, id) WHERE workspace_id IS NOT NULL;
  `,
  `
  CREATE TABLE audit_entries (
    workspace_id TEXT NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL, hash TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (workspace_id, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are not changed');
  END;
  -- The newest entry of each workspace, and the last one that retention has removed.
  CREATE TABLE audit_chains (
    workspace_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL, start_seq INTEGER NOT NULL, start_hash TEXT NOT NULL
  ) STRICT;
  `,
];
