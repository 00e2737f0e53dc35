import type { Io } from '../io.ts';
import { type EndingSignal, onEndingSignal } from '../until-signal.ts';
import type { Asked } from './follow-run.ts';

/** Listens from now on, also to keys: in a terminal that hands over single keys Ctrl-C is one of them. */
export function listenForEnd(io: Pick<Io, 'onSignal'>): Asked & { ask(signal: EndingSignal): void; stop(): void } {
  let first: EndingSignal | undefined;
  let times = 0;
  let tell: ((signal: EndingSignal, times: number) => void) | undefined;
  const ask = (signal: EndingSignal) => {
    first ??= signal;
    times += 1;
    tell?.(first, times);
  };
  const stop = onEndingSignal(io, ask);
  return {
    get signal() {
      return first;
    },
    ask,
    stop,
    onAsk: (handle) => {
      tell = handle;
      if (first !== undefined) handle(first, 1);
      return () => {
        tell = undefined;
      };
    },
  };
}
