import type { ObjectRepository, StoredObject } from './object-repository.ts';

/** Reads objects in order; undefined for an object that does not exist. A name with a line feed is not found. */
export async function readObjects(
  repository: Pick<ObjectRepository, 'run'>,
  names: readonly string[],
): Promise<(StoredObject | undefined)[]> {
  if (names.length === 0) return [];
  const asked = names.filter((name) => !name.includes('\n'));
  const input = Buffer.from(asked.map((name) => `${name}\n`).join(''), 'latin1');
  const { stdout } = await repository.run(['cat-file', '--batch'], { input, outputBytesMax: OUTPUT_BYTES_MAX });
  const contents = parseBatch(stdout);
  return names.map((name) => (name.includes('\n') ? undefined : contents.next().value));
}

/** A limit that is not reached, because callers limit the sizes of the files that they read. */
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024;

function* parseBatch(stdout: Buffer): Generator<StoredObject | undefined, undefined> {
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0x0a, at);
    const head = stdout.toString('latin1', at, end);
    const found = /^[0-9a-f]{40,64} (\w+) (\d+)$/.exec(head);
    at = end + 1;
    if (found === null) {
      // The line is `<name> missing`, or `<name> ambiguous` for a name that is not an id.
      yield undefined;
      continue;
    }
    const size = Number(found[2]);
    yield { type: found[1]!, content: stdout.subarray(at, at + size) };
    at += size + 1;
  }
  return undefined;
}
