import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { openMasterKeys } from './master-key.ts';
import { openSealedSecret } from './sealed-secret.ts';
import { createSealer, toKeyId } from './sealer.ts';

const names = ['sesn_1', 'sesrsc_1'];
const toText = (key: Uint8Array) => Buffer.from(key).toString('base64');

function useDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-master-key-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

it('[WS188, VT3] the master key is a file with mode 0600 that is made at the first secret, and a broken one is not replaced', async () => {
  const file = join(useDirectory(), 'master-key');
  const keys = await openMasterKeys({}, { file });
  expect([keys.peek().keyId, existsSync(file)]).toEqual([undefined, false]);
  const [one, two] = await Promise.all([keys.openSealer(), keys.openSealer()]);
  const sealed = one.seal('ghp_canary', names);
  expect([statSync(file).mode & 0o777, two.open(sealed, names)]).toEqual([0o600, 'ghp_canary']);
  expect(readFileSync(file, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
  expect((await openMasterKeys({}, { file })).peek().open(sealed, names)).toBe('ghp_canary');
  writeFileSync(file, 'broken');
  await expect(openMasterKeys({}, { file })).rejects.toThrow('restore it from a backup');
});

it('[VT3] of two processes that make the master key at the same time both get the same', async () => {
  const file = join(useDirectory(), 'master-key');
  const open = async () => await (await openMasterKeys({}, { file })).openSealer();
  const [one, two] = await Promise.all([open(), open()]);
  expect(two.open(one.seal('ghp_canary', names), names)).toBe('ghp_canary');
});

it('[VT3] a key file of an earlier version, in hex digits, still opens', async () => {
  const file = join(useDirectory(), 'master-key');
  const key = randomBytes(32);
  writeFileSync(file, key.toString('hex'));
  expect((await openMasterKeys({}, { file })).peek().keyId).toBe(toKeyId(key));
});

it('[VT3] a key that is given counts more than a key file, that more than the own file, and older keys open', async () => {
  const directory = useDirectory();
  const [given, inFile, own, older] = [randomBytes(32), randomBytes(32), randomBytes(32), randomBytes(32)];
  const [masterKeyFile, file] = [join(directory, 'given'), join(directory, 'master-key')];
  writeFileSync(masterKeyFile, `${toText(inFile)}\n`);
  writeFileSync(file, toText(own));
  const idOf = async (choice: object) => (await openMasterKeys(choice, { file })).peek().keyId;
  expect(await idOf({ masterKey: toText(given), masterKeyFile })).toBe(toKeyId(given));
  expect(await idOf({ masterKeyFile })).toBe(toKeyId(inFile));
  expect(await idOf({})).toBe(toKeyId(own));
  const { keyIds } = (await openMasterKeys({ olderMasterKeys: ` ${toText(older)},` }, { file })).peek();
  expect(keyIds).toContain(toKeyId(older));
});

it.each([
  ['masterKey', { masterKey: 'c2hvcnQ=' }, 'FLEETLOOM_MASTER_KEY is not 32 bytes in base64'],
  ['olderMasterKeys', { olderMasterKeys: 'canary' }, 'a key of FLEETLOOM_MASTER_KEY_OLD is not 32 bytes'],
  ['masterKeyFile', { masterKeyFile: '/none/at/all' }, 'the master key file /none/at/all cannot be read'],
])('[VT3] a master key that is not one is refused, and is in no message: %s', async (_, choice, message) => {
  const opening = openMasterKeys(choice, { file: join(useDirectory(), 'master-key') });
  await expect(opening).rejects.toThrow(message);
  await expect(opening).rejects.not.toThrow(/c2hvcnQ|canary/);
});

it('[VT4, VT5] with a database no key is made, and one that an earlier version left there only opens', async () => {
  const store = createMemoryStore();
  const secret = 's'.repeat(32);
  const empty = await openMasterKeys({}, { store, secret });
  expect([empty.peek().keyIds, (await empty.openSealer()).keyId]).toEqual([[], undefined]);
  const text = randomBytes(32).toString('hex');
  await openSealedSecret(store, { id: 'master_key', secret, make: () => text, ifInClear: 'replaced' });
  const sealed = createSealer(Buffer.from(text, 'hex')).seal('ghp_canary', names);
  const sealer = await (await openMasterKeys({}, { store, secret })).openSealer();
  expect([sealer.keyId, sealer.open(sealed, names)]).toEqual([undefined, 'ghp_canary']);
  await expect(openMasterKeys({}, { store, secret: 't'.repeat(32) })).rejects.toThrow(
    'FLEETLOOM_SECRET is not the one',
  );
});
