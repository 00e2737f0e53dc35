import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { NewKey } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { Answer } from './answer.ts';
import type { Credential } from './auth/credential.ts';
import { doorError } from './door-error.ts';
import type { Claims } from './shared-claims.ts';

/** A request that may be the repetition of one that was carried out before, and whose answer got lost. */
export interface RepeatableRequest {
  readonly credential: Credential;
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
      if (answer !== undefined) return toReplay(entry, { ...answer, ...first! });
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
    const known = entry.mayBeRepeated ? await replay(request, entry) : undefined;
    if (known !== undefined) return known;
    let isKept = false;
    const toKey = (body: object): NewKey => {
      isKept = true;
      return toNewKey(entry, { status: 200, body });
    };
    const answer = await execute({ toKey });
    if (!isKept) await keep(request, entry, answer);
    return answer;
  }

  async function replay({ credential }: RepeatableRequest, entry: Entry): Promise<Answer | undefined> {
    const record = await keys.get(credential.workspaceId, entry.key);
    // The cast: we put it there ourselves, as `toNewKey` makes it.
    return record === undefined ? undefined : toReplay(entry, record.result as unknown as KeptAnswer);
  }

  async function keep({ credential }: RepeatableRequest, entry: Entry, answer: Answer): Promise<void> {
    try {
      await keys.putIfAbsent({ workspaceId: credential.workspaceId, ...toNewKey(entry, answer) });
    } catch (error) {
      onMishap(error);
    }
  }

  function toNewKey({ key, fingerprint, ttlMs, isGuess }: Entry, { status, body }: Answer): NewKey {
    const result: KeptAnswer = { fingerprint, status, body };
    return { key, expiresAt: clock.now() + ttlMs, result, replaces: isGuess };
  }
}

interface Entry {
  readonly key: string;
  /** What the request asks for: with the same key it has to be the same. */
  readonly fingerprint: string;
  readonly ttlMs: number;
  readonly mayBeRepeated: boolean;
  /** No key says what belongs together. The same may be meant twice, and a repetition is of the newest. */
  readonly isGuess: boolean;
}

interface KeptAnswer {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: object | null;
}

function toReplay(entry: Entry, { fingerprint, status, body }: KeptAnswer): Answer {
  if (fingerprint !== entry.fingerprint) {
    throw doorError('idempotency_key_reused', 'this Idempotency-Key was used for another request');
  }
  return { status, body, headers: { 'idempotency-replayed': 'true' } };
}

function toEntry({ credential, method, path, body, idempotencyKey, retryCount }: RepeatableRequest): Entry {
  const fingerprint = digest(credential.id, method, path, body);
  if (idempotencyKey === undefined) {
    const mayBeRepeated = retryCount >= 1;
    return { key: `retry ${fingerprint}`, fingerprint, ttlMs: limits.retryGuardMs, mayBeRepeated, isGuess: true };
  }
  if (idempotencyKey.length > limits.idempotencyKeyCharsMax || idempotencyKey === '') {
    const problem = `an Idempotency-Key has 1 to ${limits.idempotencyKeyCharsMax} characters`;
    throw doorError('invalid_request', problem, { advice: 'use a random id' });
  }
  const key = `idempotency ${digest(credential.id, idempotencyKey)}`;
  return { key, fingerprint, ttlMs: limits.idempotencyMs, mayBeRepeated: true, isGuess: false };
}

/** Each part with its length before it, so that no two requests give the same. */
function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64url');
}
