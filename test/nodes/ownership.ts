import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '../support/root.ts';

/**
 * Lets the database itself write down who owns which session, and with which fence each append came: a trigger, which no
 * node knows of. The row of a session is locked while it is changed, so the notes of a session are in their true order.
 */
export function noteOwnership(url: string): void {
  runSql(
    url,
    `CREATE TABLE fleetloom.ownership (
       note bigserial PRIMARY KEY, session_id text, fence int8, owner text, old_head int8, head int8, is_live boolean
     );
     CREATE FUNCTION fleetloom.note_ownership() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO fleetloom.ownership (session_id, fence, owner, old_head, head, is_live)
       VALUES (NEW.session_id, NEW.fence, NEW.owner, OLD.head, NEW.head,
         NEW.owner IS NULL OR OLD.owner IS NULL OR OLD.owner = NEW.owner
           OR OLD.expires_at <= (extract(epoch FROM clock_timestamp()) * 1000)::int8);
       RETURN NEW; END $$;
     CREATE TRIGGER note_ownership AFTER UPDATE ON fleetloom.logs FOR EACH ROW
       WHEN (OLD.head <> NEW.head OR OLD.fence <> NEW.fence OR OLD.owner IS DISTINCT FROM NEW.owner)
       EXECUTE FUNCTION fleetloom.note_ownership();`,
  );
}

export interface Ownership {
  readonly problems: readonly string[];
  readonly appends: number;
  /** How often a session got another owner while it was at work. */
  readonly takeOvers: number;
}

export function checkOwnership(url: string): Ownership {
  const notes = JSON.parse(
    runSql(url, "SELECT coalesce(json_agg(o ORDER BY note), '[]') AS notes FROM fleetloom.ownership o"),
  ) as Note[];
  const sessions = new Map<string, { head: number; fence: number; owners: Map<number, string> }>();
  const problems: string[] = [];
  let [appends, takeOvers] = [0, 0];
  for (const { session_id: id, fence, owner, old_head: oldHead, head, is_live: isLive } of notes) {
    const known = sessions.get(id) ?? { head: oldHead, fence: 0, owners: new Map<number, string>() };
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
      // Before its first frame nobody can own it.
      if (owner === null && oldHead > 0) problems.push(`${id}: an append to ${head} without an owner`);
    }
    known.head = head;
    known.fence = fence;
  }
  return { problems, appends, takeOvers };
}

interface Note {
  readonly session_id: string;
  readonly fence: number;
  readonly owner: string | null;
  readonly old_head: number;
  readonly head: number;
  readonly is_live: boolean;
}

/** In another process: the driver belongs to the package of the server. Gives back the first value, as JSON. */
export function runSql(url: string, sql: string): string {
  const lines = `import pg from 'pg'; const client = new pg.Client(process.argv[1]); await client.connect();
    const { rows = [] } = await client.query(process.argv[2]); await client.end();
    process.stdout.write(JSON.stringify(Object.values(rows[0] ?? {})[0] ?? null));`;
  const cwd = join(repositoryRoot, 'packages', 'server');
  return execFileSync(process.execPath, ['--input-type=module', '-e', lines, url, sql], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1024 * 1024 * 1024,
  });
}
