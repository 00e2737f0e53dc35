import {
  type Compilable,
  DummyDriver,
  type Generated,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Status, WorkState } from '../records.ts';
import type { Database } from './database.ts';

/** The tables that queries are built for. `segments` and `owners` are on the hot path and have SQL of their own. */
export interface Schema {
  agents: AgentRow;
  agent_versions: { agent_id: string; version: number; updated_at: number; data: string };
  environments: EnvironmentRow;
  sessions: SessionRow;
  threads: ThreadRow;
  inputs: InputRow;
  approvals: ApprovalRow;
  works: WorkRow;
  idempotency_keys: { workspace_id: string; key: string; expires_at: number; result: string };
}

interface AgentRow {
  id: string;
  workspace_id: string;
  /** The newest one. */
  version: number;
  created_at: number;
  archived_at: number | null;
}

interface EnvironmentRow {
  id: string;
  workspace_id: string;
  revision: number;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  data: string;
}

interface SessionRow {
  /** What other tables refer to: a number is a quarter of the id. */
  key: Generated<number>;
  id: string;
  workspace_id: string;
  agent_id: string;
  agent_version: number;
  environment_id: string;
  status: Status;
  revision: number;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  data: string;
}

interface ThreadRow {
  session_key: number;
  id: string;
  parent_thread_id: string | null;
  status: Status;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  data: string;
}

interface InputRow {
  position: Generated<number>;
  session_key: number;
  id: string;
  thread_id: string | null;
  time: number;
  data: string;
}

interface ApprovalRow {
  session_key: number;
  id: string;
  workspace_id: string;
  thread_id: string;
  created_at: number;
  data: string;
  resolved_at: number | null;
  resolution: string | null;
}

interface WorkRow {
  id: string;
  workspace_id: string;
  environment_id: string;
  session_key: number;
  session_id: string;
  state: WorkState;
  revision: number;
  created_at: number;
  claimed_at: number | null;
  leased_until: number | null;
  data: string;
}

/** Builds queries and runs none: they run at once, within the transaction that is open, which a promise could not. */
export const build = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

export function allRows<Row>(database: Database, query: Compilable<Row>): Row[] {
  const { sql, parameters } = query.compile();
  return database.prepare<Row>(sql).all(...parameters);
}

export function firstRow<Row>(database: Database, query: Compilable<Row>): Row | undefined {
  const { sql, parameters } = query.compile();
  return database.prepare<Row>(sql).get(...parameters);
}

/** The number of rows that changed. */
export function runQuery(database: Database, query: Compilable): number {
  const { sql, parameters } = query.compile();
  return database.prepare(sql).run(...parameters);
}
