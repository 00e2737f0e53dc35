import { storeLimits } from '../limits.ts';
import type { Signal } from '../store.ts';

// A notification of one process to the others: its name and its signals; or, if there were too many, that each process has to
// query the database.

/** The signals of a node; `look`: there were too many for one notification. */
export type Payload = { readonly node: string; readonly signals: readonly Signal[] | 'look' };

export function encodePayload(node: string, signals: readonly Signal[]): string {
  const text = JSON.stringify([node, ...signals.map(toEntry)]);
  return Buffer.byteLength(text) <= storeLimits.databaseSignalBytesMax ? text : JSON.stringify([node, 'look']);
}

/** An unknown payload may stand for any change. */
export function decodePayload(text: string): Payload {
  const parsed = parse(text);
  if (!Array.isArray(parsed) || typeof parsed[0] !== 'string') return { node: '', signals: 'look' };
  const [node, ...entries] = parsed as [string, ...unknown[]];
  const signals = entries.map(toSignal);
  return { node, signals: signals.includes(undefined) ? 'look' : (signals as Signal[]) };
}

/** A number is the head of a log. */
function toEntry(signal: Signal): unknown[] {
  return [signal.sessionId, signal.type === 'frames' ? signal.head : signal.type];
}

function toSignal(entry: unknown): Signal | undefined {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') return undefined;
  const [sessionId, what] = entry as [string, unknown];
  if (typeof what === 'number') return { type: 'frames', sessionId, head: what };
  if (what === 'inputs' || what === 'works' || what === 'deleted') return { type: what, sessionId };
  return undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Another program uses the channel; see above.
    return undefined;
  }
}
