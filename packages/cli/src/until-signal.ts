import type { Io } from './io.ts';

/** How the input came to its end. */
export type Ending = 'ended' | EndingSignal;
export type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Hands over what the source gives until it ends or a signal asks us to. The source is then left as it is. */
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
  // Only ever resolves: signals do not fail.
  asked.then(
    (which) => (signal = which),
    () => undefined,
  );
  for await (const value of source) {
    // What was already under way when the signal came is no longer wanted.
    if (signal) return signal;
    await handle(value);
  }
  return signal ?? 'ended';
}

/** Calls back on every signal that asks us to end, until the returned function is called. */
export function onEndingSignal(io: Pick<Io, 'onSignal'>, handle: (signal: EndingSignal) => void): () => void {
  const undo = SIGNALS.map((signal) => io.onSignal(signal, () => handle(signal)));
  return () => {
    for (const each of undo) each();
  };
}

/** The first signal that asks us to end. */
export function waitForSignal(io: Pick<Io, 'onSignal'>): Promise<EndingSignal> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) io.onSignal(signal, () => resolve(signal));
  });
}
