import type { Io } from './io.ts';

/** How reading a source ended: at its end, or by a signal. */
export type Ending = 'ended' | EndingSignal;
/** A signal that asks the process to exit. */
export type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Calls `handle` for every value of the source until the source ends or a signal arrives. The source is not closed. */
export async function untilSignal<T>(
  io: Pick<Io, 'onSignal'>,
  source: AsyncIterable<T>,
  handle: (value: T) => Promise<void> | void,
): Promise<Ending> {
  const undo: (() => void)[] = [];
  const asked = new Promise<EndingSignal>((resolve) => {
    for (const signal of SIGNALS) undo.push(io.onSignal(signal, () => resolve(signal)));
  });
  try {
    return await Promise.race([asked, drain(source, handle, asked)]);
  } finally {
    for (const each of undo) each();
  }
}

const SIGNALS: readonly EndingSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

async function drain<T>(
  source: AsyncIterable<T>,
  handle: (value: T) => Promise<void> | void,
  asked: Promise<EndingSignal>,
): Promise<Ending> {
  let signal: EndingSignal | undefined;
  // Never rejects.
  asked.then(
    (which) => (signal = which),
    () => undefined,
  );
  for await (const value of source) {
    // A value that arrives after the signal is dropped.
    if (signal) return signal;
    await handle(value);
  }
  return signal ?? 'ended';
}

/** Calls `handle` on every exit signal until the returned function is called. */
export function onEndingSignal(io: Pick<Io, 'onSignal'>, handle: (signal: EndingSignal) => void): () => void {
  const undo = SIGNALS.map((signal) => io.onSignal(signal, () => handle(signal)));
  return () => {
    for (const each of undo) each();
  };
}

/** Resolves with the first exit signal. */
export function waitForSignal(
  io: Pick<Io, 'onSignal'>,
  signals: readonly EndingSignal[] = SIGNALS,
): Promise<EndingSignal> {
  return new Promise((resolve) => {
    for (const signal of signals) io.onSignal(signal, () => resolve(signal));
  });
}
