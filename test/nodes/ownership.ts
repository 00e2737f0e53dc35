import { findLogProblems, type LogRow, readLogs } from './log-proof.ts';
import { runSql } from './run-sql.ts';

/** The result of comparing owners with writers. */
export interface Ownership {
  readonly problems: readonly string[];
  readonly appends: number;
  /** How often a running session got another owner. */
  readonly takeOvers: number;
}

/** Checks all sessions. Call it when no node writes any more. */
export function checkOwnership(url: string, schema = 'fleetloom'): Ownership {
  return judgeOwnership(readOwnership(url, schema));
}

/**
 * Adds a trigger that records what the logs do not contain: the owner of each fence, and whether the previous lease had
 * expired. The row of a session is locked while it is changed, so the notes of a session are in their true order.
 */
export function noteOwnership(url: string, schema = 'fleetloom'): void {
  runSql(
    url,
    `CREATE TABLE ${schema}.ownership (
       note bigserial PRIMARY KEY, session_id text, fence int8, owner text, old_head int8, head int8, is_live boolean
     );
     CREATE FUNCTION ${schema}.note_ownership() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO ${schema}.ownership (session_id, fence, owner, old_head, head, is_live)
       VALUES (NEW.session_id, NEW.fence, NEW.owner, OLD.head, NEW.head,
         NEW.owner IS NULL OR OLD.owner IS NULL OR OLD.owner = NEW.owner
           OR OLD.expires_at <= (extract(epoch FROM clock_timestamp()) * 1000)::int8);
       RETURN NEW; END $$;
     CREATE TRIGGER note_ownership AFTER UPDATE ON ${schema}.logs FOR EACH ROW
       WHEN (OLD.head <> NEW.head OR OLD.fence <> NEW.fence OR OLD.owner IS DISTINCT FROM NEW.owner)
       EXECUTE FUNCTION ${schema}.note_ownership();`,
  );
}

export interface Note {
  readonly session_id: string;
  /** The fence of the session after the change. */
  readonly fence: number;
  readonly owner: string | null;
  readonly old_head: number;
  readonly head: number;
  readonly is_live: boolean;
}

export interface Evidence {
  readonly rows: readonly LogRow[];
  readonly notes: readonly Note[];
}

export function readOwnership(url: string, schema: string): Evidence {
  const sql = `SELECT coalesce(json_agg(o ORDER BY note), '[]') AS notes FROM ${schema}.ownership o`;
  return { rows: readLogs(url, schema), notes: JSON.parse(runSql(url, sql)) as Note[] };
}

export function judgeOwnership({ rows, notes }: Evidence): Ownership {
  const problems = findLogProblems(rows);
  const sessions = new Map<string, Known>();
  let [appends, takeOvers] = [0, 0];
  for (const { session_id: id, fence, owner, old_head: oldHead, head, is_live: isLive } of notes) {
    const known = sessions.get(id) ?? { head: oldHead, fence: 0, owners: new Map<number, string>(), written: [] };
    sessions.set(id, known);
    if (!isLive) problems.push(`${id}: fence ${fence} was taken from an owner whose lease had not run out`);
    if (fence < known.fence) problems.push(`${id}: fence ${fence} came after ${known.fence}`);
    if (owner !== null) {
      if ((known.owners.get(fence) ?? owner) !== owner) problems.push(`${id}: fence ${fence} has two owners`);
      if (known.owners.size > 0 && !known.owners.has(fence)) takeOvers += 1;
      known.owners.set(fence, owner);
    }
    if (head !== oldHead) {
      appends += 1;
      if (oldHead !== known.head) problems.push(`${id}: an append began at ${oldHead} and not at ${known.head}`);
      // A session has no owner before its first frame.
      if (owner === null && oldHead > 0) problems.push(`${id}: an append to ${head} without an owner`);
      addWritten(known.written, head, fence);
    }
    known.head = head;
    known.fence = fence;
  }
  return { problems: [...problems, ...compareWriters(rows, sessions)], appends, takeOvers };
}

interface Known {
  head: number;
  fence: number;
  readonly owners: Map<number, string>;
  readonly written: Written;
}

/** The last `seq` written with each fence. */
type Written = { last: number; fence: number }[];

function addWritten(written: Written, last: number, fence: number): void {
  const before = written.at(-1);
  if (before?.fence === fence) before.last = last;
  else written.push({ last, fence });
}

/** The writers according to the log must be the owners according to the notes. */
function compareWriters(rows: readonly LogRow[], sessions: ReadonlyMap<string, Known>): string[] {
  const logs = new Map<string, Written>();
  for (const { session_id: id, first_seq: first, last_seq: last, fence } of rows) {
    const written = logs.get(id) ?? [];
    logs.set(id, written);
    if (first !== null) addWritten(written, last, fence);
  }
  return [...logs].flatMap(([id, written]) => {
    const [log, notes] = [written, sessions.get(id)?.written ?? []].map(toText);
    return log === notes ? [] : [`${id}: by the log ${log} wrote, and by the notes ${notes} owned it`];
  });
}

function toText(written: Written): string {
  return written.map(({ last, fence }) => `fence ${fence} to ${last}`).join(', ');
}
