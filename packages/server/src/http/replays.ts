import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { NewKey } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { Answer } from './answer.ts';
import type { Credential } from './auth/credential.ts';
import { doorError } from './door-error.ts';
import { openAnswer, sealAnswer, type SealingKey, toSealingKey } from './sealed-answer.ts';
import type { Claims } from './shared-claims.ts';

/** A request that may be the repetition of one that was carried out before, and whose answer got lost. */
export interface RepeatableRequest {
  readonly credential: Credential;
  /** What the caller proved its credential with. Empty where everybody is let in. */
  readonly secret: string;
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
  readonly idempotencyKey: string | undefined;
  /** How often the client has tried before, as far as it says so. */
  readonly retryCount: number;
}

export interface Replays {
  /** The answer of the first time if this is a repetition; else what `execute` gives, which is kept. What it throws is not. */
  run(request: RepeatableRequest, execute: (memory: ReplayMemory) => Promise<Answer>): Promise<Answer>;
}

/**
 * For handlers that write to the store: they put the key into the same transaction, so that a crash between the deed and
 * the keeping of its answer cannot make it happen twice.
 */
export interface ReplayMemory {
  /** The key to put. Afterwards the door does not put one itself. */
  toKey(body: object): NewKey;
}

export interface ReplaysOptions {
  readonly keys: Store['keys'];
  readonly clock?: Clock | undefined;
  /** Hears when an answer could not be kept. The client gets it all the same. */
  readonly onMishap: (error: unknown) => void;
  /** Where several nodes may be asked the same: one of them at a time carries out what has an `Idempotency-Key`. */
  readonly claims?: Claims | undefined;
}

/**
 * Applies repeated requests once. With an `Idempotency-Key` the key decides. Official clients send none, but say when they
 * repeat: then the same body from the same credential to the same path, carried out shortly before, is taken for the
 * request that is repeated.
 */
export function createReplays({ keys, clock = systemClock, onMishap, claims }: ReplaysOptions): Replays {
  /** What is being carried out. A client that lost its patience repeats before the first answer is there. */
  const underWay = new Map<string, { fingerprint: string; work: Promise<Answer> }>();

  return {
    run: async (request, execute) => {
      const entry = toEntry(request);
      const first = entry.mayBeRepeated ? underWay.get(entry.key) : undefined;
      // If the first one fails, this one is on its own.
      const answer = await first?.work.catch(() => undefined);
      if (answer !== undefined) return toReplay(entry, first!.fingerprint, answer);
      const carryOut = () => lookThenRun(request, entry, execute);
      // Without a key of the client's own the same may be meant twice, so there is nothing to claim.
      const isClaimed = claims !== undefined && !entry.isGuess;
      const work = isClaimed ? claims.run(entry.key, () => replay(request, entry), carryOut) : carryOut();
      underWay.set(entry.key, { fingerprint: entry.fingerprint, work });
      try {
        return await work;
      } finally {
        if (underWay.get(entry.key)?.work === work) underWay.delete(entry.key);
      }
    },
  };

  async function lookThenRun(
    request: RepeatableRequest,
    entry: Entry,
    execute: (memory: ReplayMemory) => Promise<Answer>,
  ): Promise<Answer> {
    const arrivedAt = clock.now();
    const known = entry.mayBeRepeated ? await replay(request, entry) : undefined;
    if (known !== undefined) return known;
    try {
      return await runAndKeep(request, entry, execute);
    } catch (error) {
      if (!isStoreError(error, 'key_taken')) throw error;
      // Another one was faster, and nothing was done here.
      const kept = await find(request, entry);
      const other = kept !== undefined && isSame(entry, kept, arrivedAt) ? openKept(entry, kept) : undefined;
      if (other !== undefined) return other;
      if (!entry.isGuess) throw error;
      return await runAndKeep(request, { ...entry, replaces: true }, execute);
    }
  }

  async function runAndKeep(
    request: RepeatableRequest,
    entry: Entry,
    execute: (memory: ReplayMemory) => Promise<Answer>,
  ): Promise<Answer> {
    let isKept = false;
    const toKey = (body: object): NewKey => {
      isKept = true;
      return toNewKey(entry, { status: 200, body });
    };
    const answer = await execute({ toKey });
    if (!isKept) await keep(request, entry, answer);
    return answer;
  }

  async function find({ credential }: RepeatableRequest, entry: Entry): Promise<KeptAnswer | undefined> {
    const record = await keys.get(credential.workspaceId, entry.key);
    // The cast: we put it there ourselves, as `toNewKey` makes it.
    return record?.result as unknown as KeptAnswer | undefined;
  }

  async function replay(request: RepeatableRequest, entry: Entry): Promise<Answer | undefined> {
    const known = await find(request, entry);
    return known === undefined ? undefined : openKept(entry, known);
  }

  async function keep({ credential }: RepeatableRequest, entry: Entry, answer: Answer): Promise<void> {
    try {
      await keys.putIfAbsent({
        workspaceId: credential.workspaceId,
        ...toNewKey({ ...entry, replaces: entry.isGuess }, answer),
      });
    } catch (error) {
      onMishap(error);
    }
  }

  function toNewKey(entry: Entry, { status, body }: Answer): NewKey {
    const { key, fingerprint, sealingKey, ttlMs, mayBeRepeated, isGuess, isLarge, replaces } = entry;
    const at = clock.now();
    const again = isGuess && mayBeRepeated ? { repeated_at: at } : {};
    const sealed = isLarge ? null : sealAnswer(body, sealingKey());
    const result: KeptAnswer = { fingerprint, status, sealed, ...again };
    // One process knows what it is at. Of several, one may come to write long after another one was asked again.
    return { key, expiresAt: at + ttlMs, result, replaces: replaces ?? (isGuess && claims === undefined) };
  }
}

/**
 * Whether what another node has done is what this one was asked for. Without a key of the client's own two that are alike may
 * both be meant; but if the other one was asked again after this one had come, it was this that was repeated.
 */
function isSame(entry: Entry, { repeated_at: repeatedAt }: KeptAnswer, arrivedAt: number): boolean {
  return !entry.isGuess || entry.mayBeRepeated || (repeatedAt !== undefined && repeatedAt >= arrivedAt);
}

interface Entry {
  readonly key: string;
  /** What the request asks for: with the same key it has to be the same. */
  readonly fingerprint: string;
  /** The answer to a large request repeats it. */
  readonly isLarge: boolean;
  /** What its answer is kept with. */
  readonly sealingKey: () => SealingKey;
  readonly ttlMs: number;
  readonly mayBeRepeated: boolean;
  /** No key says what belongs together. The same may be meant twice, and a repetition is of the newest. */
  readonly isGuess: boolean;
  /** Whether the answer takes the place of an earlier one of the same key, if that is decided already. */
  readonly replaces?: boolean;
}

interface KeptAnswer {
  readonly fingerprint: string;
  readonly status: number;
  /** Null: it was too large to be kept, so a repetition is only told that the request was carried out. */
  readonly sealed: string | null;
  /** Instead, where an older version has kept it. It expires within a day. */
  readonly body?: object | null;
  /** When it was carried out, if it was the repetition of a request that left no trace. */
  readonly repeated_at?: number;
}

/** Undefined: it is another caller's, who has the same key of the server and sent the same by chance. */
function openKept(entry: Entry, { fingerprint, status, sealed, body }: KeptAnswer): Answer | undefined {
  if (sealed === null && fingerprint === entry.fingerprint) {
    throw doorError('answer_too_large', 'this request was carried out before, and its answer was too large to be kept');
  }
  const opened = body === undefined ? openAnswer(sealed ?? '', entry.sealingKey()) : { body };
  if (opened !== undefined) return toReplay(entry, fingerprint, { status, body: opened.body });
  if (entry.isGuess) return undefined;
  if (fingerprint !== entry.fingerprint) throw reused();
  throw doorError('answer_sealed', 'a request with this Idempotency-Key was carried out for another login');
}

function toReplay(entry: Entry, fingerprint: string, { status, body }: Pick<Answer, 'status' | 'body'>): Answer {
  if (fingerprint !== entry.fingerprint) throw reused();
  return { status, body, headers: { 'idempotency-replayed': 'true' } };
}

function reused(): Error {
  return doorError('idempotency_key_reused', 'this Idempotency-Key was used for another request');
}

function toEntry(request: RepeatableRequest): Entry {
  const { credential, secret, method, path, body, idempotencyKey, retryCount } = request;
  // Once for both: a large body takes a while.
  const content = digest(body);
  const fingerprint = digest(credential.id, method, path, content);
  // Not the fingerprint, which is kept beside the answer.
  const sealingKey = () => toSealingKey(secret, digest('answer', method, path, idempotencyKey ?? '', content));
  const common = { fingerprint, sealingKey, isLarge: body.length > limits.replayBytesMax };
  if (idempotencyKey === undefined) {
    const mayBeRepeated = retryCount >= 1;
    return { ...common, key: `retry ${fingerprint}`, ttlMs: limits.retryGuardMs, mayBeRepeated, isGuess: true };
  }
  if (idempotencyKey.length > limits.idempotencyKeyCharsMax || idempotencyKey === '') {
    const problem = `an Idempotency-Key has 1 to ${limits.idempotencyKeyCharsMax} characters`;
    throw doorError('invalid_request', problem, { advice: 'use a random id' });
  }
  const key = `idempotency ${digest(credential.id, idempotencyKey)}`;
  return { ...common, key, ttlMs: limits.idempotencyMs, mayBeRepeated: true, isGuess: false };
}

/** Each part with its length before it, so that no two requests give the same. */
function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64url');
}
