import { useEffect, useState } from 'react';

/** A value that is loaded from the server. While it is loaded again, the earlier value stays. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly problem: unknown;
  readonly isLoading: boolean;
}

/**
 * Loads a value again when `version` changes; several changes within `SETTLE_MS`, or `waitMs` if passed, need one
 * request, and a request for an earlier version is aborted. With another `subject` the earlier value is dropped. Without a
 * subject nothing is loaded.
 */
export function useLoaded<Value>(
  subject: string | undefined,
  version: string,
  load: (signal: AbortSignal) => Promise<Value>,
  waitMs?: number,
): Loaded<Value> {
  const [state, setState] = useState<{ subject?: string; version?: string; value?: Value; problem?: unknown }>({});
  const isSame = state.subject === subject;
  useEffect(() => {
    if (subject === undefined) return undefined;
    const stale = new AbortController();
    const { signal } = stale;
    const start = () => {
      load(signal).then(
        (value) => signal.aborted || setState({ subject, version, value }),
        // The earlier value is dropped, because it may be outdated.
        (problem: unknown) => signal.aborted || setState({ subject, version, problem }),
      );
    };
    const timer = setTimeout(start, waitMs ?? (isSame ? SETTLE_MS : 0));
    return () => {
      stale.abort();
      clearTimeout(timer);
    };
    // `load` is a new function in every render; subject and version determine what it loads.
  }, [subject, version]);
  return {
    value: isSame ? state.value : undefined,
    problem: isSame ? state.problem : undefined,
    isLoading: subject !== undefined && (!isSame || state.version !== version),
  };
}

const SETTLE_MS = 120;
