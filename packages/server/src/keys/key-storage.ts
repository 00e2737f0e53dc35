import { readPages } from '../store/read-pages.ts';
import { randomBytes } from 'node:crypto';
import { chmod, link, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { storeLimits } from '../store/limits.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { makePrivateDirectory } from '../base/files/private-files.ts';
import type { NewAuditEntry } from '../store/audit.ts';
import type { Store } from '../store/store.ts';
import { isStoreError, storeError } from '../store/store-errors.ts';
import { createReservations, type Reserve } from './reservations.ts';
import { writePrivateFile } from './write-private-file.ts';

/** Where keys lie, each a text of its own that never changes under its name. */
export interface KeyStorage {
  /** For people. */
  readonly label: string;
  /** The name of the first key, where of several processes only one may make it. */
  readonly firstName: string | undefined;
  /** In their order. */
  names(): Promise<readonly string[]>;
  read(name: string): Promise<string>;
  /** Adds a key atomically. False if the name is in use. */
  add(name: string, text: string, audit?: NewAuditEntry): Promise<boolean>;
  remove(name: string, audit?: NewAuditEntry): Promise<void>;
  readonly reserve: Reserve;
  /** When keys were last used, by their ids, as far as it was stored. */
  readUses(): Promise<ReadonlyMap<string, number>>;
  /** Stores later uses. Keys that are not in it keep what is stored. */
  writeUses(uses: ReadonlyMap<string, number>): Promise<void>;
  describe(name: string): string;
}

/** Stores an entry of the audit log. */
export type RecordAudit = (entry: NewAuditEntry) => Promise<void>;

/**
 * A directory with a file for each, so that a command needs no running server. A file and the store are not written in one
 * transaction: an entry of the audit log is stored before the file is changed, so that no change is without its entry.
 */
export async function openKeyDirectory(directory: string, record: RecordAudit = async () => {}): Promise<KeyStorage> {
  await makePrivateDirectory(directory);
  const describe = (name: string) => join(directory, `${name}.json`);
  const usesFile = join(directory, 'last-uses');
  const readUses = async () => toUses(await readFile(usesFile, 'utf8').catch(() => '{}'));
  return {
    label: directory,
    firstName: undefined,
    names: async () => {
      const files = (await readdir(directory)).filter((name) => name.endsWith('.json'));
      return files.map((name) => name.slice(0, -'.json'.length)).toSorted();
    },
    read: async (name) => {
      const file = describe(name);
      if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
      return await readFile(file, 'utf8');
    },
    add: async (name, text, audit) => {
      if (audit !== undefined) await record(audit);
      // A concurrent reader of the directory ignores drafts.
      const draft = join(directory, `${name}.${randomBytes(8).toString('hex')}.draft`);
      await writePrivateFile(draft, text);
      try {
        // A link appears with its whole content, and replaces nothing.
        await link(draft, describe(name));
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
        throw error;
      } finally {
        await rm(draft);
      }
    },
    remove: async (name, audit) => {
      if (audit !== undefined) await record(audit);
      await rm(describe(name), { force: true });
    },
    readUses,
    writeUses: async (uses) => {
      const all = new Map([...(await readUses()), ...uses]);
      const draft = `${usesFile}.${randomBytes(8).toString('hex')}.draft`;
      await writePrivateFile(draft, JSON.stringify(Object.fromEntries(all)));
      await rename(draft, usesFile);
    },
    // A directory belongs to one server, which creates keys one after the other.
    reserve: async (_, hasRoom) => ((await hasRoom(0)) ? { release: async () => {} } : undefined),
    describe,
  };
}

/** The store that all nodes share. */
export function createKeyDocuments(
  { documents }: Pick<Store, 'documents'>,
  clock: Pick<Clock, 'now'> = systemClock,
): KeyStorage {
  return {
    label: 'the database',
    firstName: 'first',
    names: async () => {
      const names: string[] = [];
      const request = { kind: KIND, order: 'asc', limit: storeLimits.pageItemsMax } as const;
      for await (const keys of readPages((from) => documents.list({ ...request, ...from }))) {
        names.push(...keys.map(({ id }) => id));
      }
      return names;
    },
    read: async (name) => {
      const found = await documents.get(KIND, name);
      if (found === undefined) throw storeError('not_found', `the key ${name} does not exist`);
      return JSON.stringify(found.data);
    },
    add: async (name, text, audit) => {
      try {
        await documents.put({ kind: KIND, id: name, data: JSON.parse(text) as object, ifRevision: 0 }, audit);
        return true;
      } catch (error) {
        if (isStoreError(error, 'version_conflict')) return false;
        throw error;
      }
    },
    remove: (name, audit) => documents.delete(KIND, name, audit),
    readUses: async () => {
      const uses = new Map<string, number>();
      const request = { kind: USE, order: 'asc', limit: storeLimits.pageItemsMax } as const;
      for await (const page of readPages((from) => documents.list({ ...request, ...from }))) {
        for (const { id, data } of page) uses.set(id, Number(data['at']));
      }
      return uses;
    },
    writeUses: async (uses) => {
      for (const [id, at] of uses) await documents.put({ kind: USE, id, data: { at } });
    },
    reserve: createReservations(documents, clock),
    describe: (name) => `the key ${name} in the database`,
  };
}

/** A damaged file of uses counts as empty: it opens nothing, and is written again. */
function toUses(text: string): ReadonlyMap<string, number> {
  try {
    const uses = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return new Map(uses.filter((use): use is [string, number] => typeof use[1] === 'number'));
  } catch {
    return new Map();
  }
}

const KIND = 'api_key';
const USE = 'key_use';
