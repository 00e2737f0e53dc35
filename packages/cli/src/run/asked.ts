import type { Io } from '../io.ts';
import { type EndingSignal, onEndingSignal } from '../until-signal.ts';
import type { Asked } from './follow-run.ts';

export interface Listening extends Asked {
  ask(signal: EndingSignal): void;
  /** Resolves when somebody has asked. */
  whenAsked(): Promise<EndingSignal>;
  stop(): void;
}

/** Listens from now on, also to keys: in a terminal that hands over single keys Ctrl-C is one of them. */
export function listenForEnd(io: Pick<Io, 'onSignal'>): Listening {
  let first: EndingSignal | undefined;
  let times = 0;
  let resolveAsked: (signal: EndingSignal) => void = () => {};
  const asked = new Promise<EndingSignal>((resolve) => {
    resolveAsked = resolve;
  });
  let tell: ((signal: EndingSignal, times: number) => void) | undefined;
  const ask = (signal: EndingSignal) => {
    first ??= signal;
    times += 1;
    resolveAsked(first);
    tell?.(first, times);
  };
  const stop = onEndingSignal(io, ask);
  return {
    get signal() {
      return first;
    },
    ask,
    whenAsked: () => asked,
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
