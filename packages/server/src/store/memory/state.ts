import type { Entry } from '../frame.ts';
import type {
  AgentRecord,
  ApprovalRecord,
  EnvironmentRecord,
  InputRecord,
  KeyRecord,
  SessionRecord,
  ThreadRecord,
  WorkRecord,
} from '../records.ts';

/** All that the memory store keeps. */
export class State {
  readonly agents = new Table<AgentRecord[]>();
  readonly environments = new Table<EnvironmentRecord>();
  readonly sessions = new Table<SessionRecord>();
  readonly threads = new Table<ThreadRecord>();
  readonly inputs = new Table<InputRecord>();
  readonly approvals = new Table<ApprovalRecord>();
  readonly works = new Table<WorkRecord>();
  readonly keys = new Table<KeyRecord>();
  readonly logs = new Table<MemoryLog>();
  lastPosition = 0;
}

/** The log of a session and who owns it. */
export interface MemoryLog {
  readonly entries: Entry[];
  readonly head: number;
  readonly fence: number;
  readonly owner: string | null;
  readonly expiresAt: number;
}

/**
 * Values by key, never changed in place. While a transaction is open each change notes how to take it back, which is
 * all that a rollback needs.
 */
export class Table<Value> {
  readonly #values = new Map<string, Value>();

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value, undo?: Undo): void {
    const before = this.#values.get(key);
    this.#values.set(key, value);
    undo?.push(() => (before === undefined ? this.#values.delete(key) : this.#values.set(key, before)));
  }

  delete(key: string, undo?: Undo): void {
    const before = this.#values.get(key);
    if (before === undefined) return;
    this.#values.delete(key);
    undo?.push(() => this.#values.set(key, before));
  }

  values(): Value[] {
    return [...this.#values.values()];
  }
}

export type Undo = (() => unknown)[];

/** Puts a record into its table, as others will see it whatever the giver does with the object afterwards. */
export function keep<Value>(table: Table<Value>, key: string, record: object, undo?: Undo): Value {
  // What comes out of JSON is what was put in, less what JSON cannot hold.
  const kept = freeze(JSON.parse(JSON.stringify(record))) as Value;
  table.set(key, kept, undo);
  return kept;
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
