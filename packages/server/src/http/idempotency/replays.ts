import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../../base/clock.ts';
import { inSlices } from '../../base/in-slices.ts';
import { jsonBytesAtLeast } from '../../base/json/json-bytes.ts';
import { httpLimits } from '../limits.ts';
import type { NewKey } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { Answer } from '../response/answer.ts';
import type { Credential } from '../../keys/credential.ts';
import { requestError } from '../../base/request-error.ts';
import { openAnswer, sealAnswer, type SealingKey, toSealingKey } from './sealed-answer.ts';
import type { Claims } from './shared-claims.ts';

/** A request that may repeat an earlier one whose response was lost. */
export interface RepeatableRequest {
  readonly credential: Credential;
  /** The secret of the credential. Empty if the server needs no key. */
  readonly secret: string;
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
  readonly idempotencyKey: string | undefined;
  /** How often the client has tried before, as its headers report it. */
  readonly retryCount: number;
}

/** Applies a request once, although its client may send it several times. */
export interface Replays {
  /** Returns the stored response if the request repeats an earlier one; otherwise stores the result of `execute`, unless it fails. */
  run(request: RepeatableRequest, execute: (memory: ReplayMemory) => Promise<Answer>): Promise<Answer>;
}

/**
 * For handlers that write to the store: they put the key into the same transaction, so that a crash between the write and
 * the storing of its response cannot apply the request twice.
 */
export interface ReplayMemory {
  /** The key to put. After this call the server does not put one on its own. */
  toKey(body: object): NewKey;
}

/** The storage of responses. */
export interface ReplaysOptions {
  readonly keys: Store['keys'];
  readonly clock?: Clock | undefined;
  /** Receives the error if a response could not be stored. The client gets the response nevertheless. */
  readonly onError: (error: unknown) => void;
  /** With several nodes: one node at a time applies a request with a given `Idempotency-Key`. */
  readonly claims?: Claims | undefined;
}

/**
 * Applies repeated requests once. With an `Idempotency-Key` the key decides. Official clients do not send one, but mark
 * retries: then the same body from the same credential to the same path, applied shortly before, is treated as the
 * request that is repeated.
 */
export function createReplays({ keys, clock = systemClock, onError, claims }: ReplaysOptions): Replays {
  /** Requests in progress. A client may repeat a request before it has the first response. */
  const underWay = new Map<string, { fingerprint: string; secret: string; work: Promise<Answer> }>();

  return {
    run: async (request, execute) => {
      const { body } = request;
      // A short body is digested without an await: all requests of one turn of the event loop would pass before the first is registered.
      const content = body.length <= PIECE_BYTES ? digest(body) : await inSlices(digestLong(body));
      const entry = toEntry(request, content);
      const first = entry.mayBeRepeated ? underWay.get(entry.key) : undefined;
      // If the first request fails, this one is applied.
      const answer = await first?.work.catch(() => undefined);
      // Logins of one key have different rights: the response to one of them may be a login link with its rights.
      const isOwn = first?.secret === request.secret;
      if (answer !== undefined && isOwn) return toReplay(entry, first.fingerprint, answer);
      const carryOut = () => lookThenRun(request, entry, execute);
      // Without an Idempotency-Key two equal requests may both be intended, so there is nothing to claim.
      const isClaimed = claims !== undefined && !entry.isGuess;
      const work = isClaimed ? claims.run(entry.key, () => replay(request, entry), carryOut) : carryOut();
      underWay.set(entry.key, { fingerprint: entry.fingerprint, secret: request.secret, work });
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
      // Another request with this key was applied first, and this one wrote nothing.
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
    // The cast: `toNewKey` wrote this record.
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
      onError(error);
    }
  }

  function toNewKey(entry: Entry, { status, body }: Answer): NewKey {
    const { key, fingerprint, sealingKey, ttlMs, mayBeRepeated, isGuess, isLarge, replaces } = entry;
    const at = clock.now();
    const again = isGuess && mayBeRepeated ? { repeated_at: at } : {};
    const isKept = !isLarge && jsonBytesAtLeast(body) <= httpLimits.replayAnswerBytesMax;
    const sealed = isKept ? sealAnswer(body, sealingKey()) : null;
    const result: KeptAnswer = { fingerprint, status, sealed, ...again };
    // A single process knows its requests in progress. With several, one may write long after another has applied a retry.
    return { key, expiresAt: at + ttlMs, result, replaces: replaces ?? (isGuess && claims === undefined) };
  }
}

/**
 * Whether another node has applied this very request. Without an Idempotency-Key two equal requests may both be intended;
 * but if the other node received a retry after this request had arrived, this request is the one that was retried.
 */
function isSame(entry: Entry, { repeated_at: repeatedAt }: KeptAnswer, arrivedAt: number): boolean {
  return !entry.isGuess || entry.mayBeRepeated || (repeatedAt !== undefined && repeatedAt >= arrivedAt);
}

interface Entry {
  readonly key: string;
  /** Digest of the request. A request with the same key must have the same fingerprint. */
  readonly fingerprint: string;
  /** Whether the request is large: its response contains the request, and is not stored. */
  readonly isLarge: boolean;
  /** The key that encrypts the stored response. */
  readonly sealingKey: () => SealingKey;
  readonly ttlMs: number;
  readonly mayBeRepeated: boolean;
  /** Whether the request has no Idempotency-Key: equal requests may both be intended, and a retry repeats the newest. */
  readonly isGuess: boolean;
  /** Whether the response replaces an earlier one of the same key, if that is decided already. */
  readonly replaces?: boolean;
}

interface KeptAnswer {
  readonly fingerprint: string;
  readonly status: number;
  /** The encrypted response. Null: it was too large to be kept, so a repeated request only gets an error that it was applied. */
  readonly sealed: string | null;
  /** The unencrypted response, as older versions stored it. Expires within a day. */
  readonly body?: object | null;
  /** When the request was applied, if it was a retry of a request that was not recorded. */
  readonly repeated_at?: number;
}

/** Opens a stored response; undefined if it belongs to another caller with the same server key that sent an equal request. */
function openKept(entry: Entry, { fingerprint, status, sealed, body }: KeptAnswer): Answer | undefined {
  if (sealed === null && fingerprint === entry.fingerprint) {
    throw requestError(
      'answer_too_large',
      'this request was applied before, and its answer was too large to be stored',
    );
  }
  const opened = body === undefined ? openAnswer(sealed ?? '', entry.sealingKey()) : { body };
  if (opened !== undefined) return toReplay(entry, fingerprint, { status, body: opened.body });
  if (entry.isGuess) return undefined;
  if (fingerprint !== entry.fingerprint) throw reused();
  throw requestError('answer_sealed', 'a request with this Idempotency-Key was applied for another login');
}

function toReplay(entry: Entry, fingerprint: string, { status, body }: Pick<Answer, 'status' | 'body'>): Answer {
  if (fingerprint !== entry.fingerprint) throw reused();
  return { status, body, headers: { 'idempotency-replayed': 'true' } };
}

function reused(): Error {
  return requestError('idempotency_key_reused', 'this Idempotency-Key was used for another request');
}

/** `content` is the digest of the body. */
function toEntry(request: RepeatableRequest, content: string): Entry {
  const { credential, secret, method, path, body, idempotencyKey, retryCount } = request;
  const fingerprint = digest(credential.id, method, path, content);
  // Not derived from the fingerprint, which is stored beside the response.
  const sealingKey = () => toSealingKey(secret, digest('answer', method, path, idempotencyKey ?? '', content));
  const common = { fingerprint, sealingKey, isLarge: body.length > httpLimits.replayBytesMax };
  if (idempotencyKey === undefined) {
    const mayBeRepeated = retryCount >= 1;
    return { ...common, key: `retry ${fingerprint}`, ttlMs: httpLimits.retryGuardMs, mayBeRepeated, isGuess: true };
  }
  if (idempotencyKey.length > httpLimits.idempotencyKeyCharsMax || idempotencyKey === '') {
    const problem = `an Idempotency-Key has 1 to ${httpLimits.idempotencyKeyCharsMax} characters`;
    throw requestError('invalid_request', problem, { advice: 'use a random id' });
  }
  const key = `idempotency ${digest(credential.id, idempotencyKey)}`;
  return { ...common, key, ttlMs: httpLimits.idempotencyMs, mayBeRepeated: true, isGuess: false };
}

/** Digests the parts, each preceded by its length, so that different requests do not have the same digest. */
function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64url');
}

/** As {@link digest} of one long part, for {@link inSlices}. */
function* digestLong(part: Uint8Array): Generator<void, string> {
  const hash = createHash('sha256').update(`${part.length}:`);
  for (let at = 0; at < part.length; at += PIECE_BYTES) {
    hash.update(part.subarray(at, at + PIECE_BYTES));
    yield;
  }
  return hash.digest('base64url');
}

/** Bytes that are hashed in about 1 ms. */
const PIECE_BYTES = 512 * 1024;
