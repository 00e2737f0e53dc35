import { chmod, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { makePrivateDirectory } from '../../base/private-files.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError, storeError } from '../../store/store-errors.ts';
import { writeSecretly } from './write-secretly.ts';

/** Where keys lie, each a text of its own that never changes under its name. */
export interface KeyShelf {
  /** For people. */
  readonly label: string;
  /** The name of the first key, where of several processes only one may make it. */
  readonly firstName: string | undefined;
  /** In their order. */
  names(): Promise<readonly string[]>;
  read(name: string): Promise<string>;
  /** Whole or not at all. False if the name is taken. */
  add(name: string, text: string): Promise<boolean>;
  remove(name: string): Promise<void>;
  placeOf(name: string): string;
}

/** A directory with a file for each, so that a command needs no running server. */
export async function openKeyDirectory(directory: string): Promise<KeyShelf> {
  await makePrivateDirectory(directory);
  const placeOf = (name: string) => join(directory, `${name}.json`);
  return {
    label: directory,
    firstName: undefined,
    names: async () => {
      const files = (await readdir(directory)).filter((name) => name.endsWith('.json'));
      return files.map((name) => name.slice(0, -'.json'.length)).toSorted();
    },
    read: async (name) => {
      const file = placeOf(name);
      if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
      return await readFile(file, 'utf8');
    },
    add: async (name, text) => {
      // Whoever reads the directory meanwhile passes drafts over.
      const draft = join(directory, `${name}.draft`);
      await writeSecretly(draft, text);
      await rename(draft, placeOf(name));
      return true;
    },
    remove: (name) => rm(placeOf(name), { force: true }),
    placeOf,
  };
}

/** The store that all nodes share. */
export function openKeyDocuments({ documents }: Pick<Store, 'documents'>): KeyShelf {
  return {
    label: 'the database',
    firstName: 'first',
    names: async () => {
      const names: string[] = [];
      let cursor: string | null = null;
      do {
        const place: { cursor?: string } = cursor === null ? {} : { cursor };
        const page = await documents.list({ kind: KIND, order: 'asc', limit: limits.pageItemsMax, ...place });
        names.push(...page.items.map(({ id }) => id));
        cursor = page.next;
      } while (cursor !== null);
      return names;
    },
    read: async (name) => {
      const found = await documents.get(KIND, name);
      if (found === undefined) throw storeError('not_found', `the key ${name} does not exist`);
      return JSON.stringify(found.data);
    },
    add: async (name, text) => {
      try {
        await documents.put({ kind: KIND, id: name, data: JSON.parse(text) as object, ifRevision: 0 });
        return true;
      } catch (error) {
        if (isStoreError(error, 'version_conflict')) return false;
        throw error;
      }
    },
    remove: (name) => documents.delete(KIND, name),
    placeOf: (name) => `the key ${name} in the database`,
  };
}

const KIND = 'api_key';
