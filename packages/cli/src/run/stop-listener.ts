import type { Io } from '../base/io.ts';
import { type EndingSignal, onEndingSignal } from '../base/until-signal.ts';
import type { StopRequests } from './follow-run.ts';

/** Collects exit signals and Ctrl-C from the moment it is created. */
export interface StopListener extends StopRequests {
  /** Requests a stop, as if the signal had arrived. */
  request(signal: EndingSignal): void;
  /** Resolves with the first request. */
  whenRequested(): Promise<EndingSignal>;
  stop(): void;
}

/** Starts to listen. Raw keyboards pass Ctrl-C on through `request`, because there it is not a signal. */
export function listenForStop(io: Pick<Io, 'onSignal'>): StopListener {
  let first: EndingSignal | undefined;
  let times = 0;
  let resolveFirst: (signal: EndingSignal) => void = () => {};
  const requested = new Promise<EndingSignal>((resolve) => {
    resolveFirst = resolve;
  });
  let listener: ((signal: EndingSignal, times: number) => void) | undefined;
  const request = (signal: EndingSignal) => {
    first ??= signal;
    times += 1;
    resolveFirst(first);
    listener?.(first, times);
  };
  const stop = onEndingSignal(io, request);
  return {
    get signal() {
      return first;
    },
    request,
    whenRequested: () => requested,
    stop,
    onRequest: (handle) => {
      listener = handle;
      if (first !== undefined) handle(first, 1);
      return () => {
        listener = undefined;
      };
    },
  };
}
