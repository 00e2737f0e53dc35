import { AsyncLocalStorage } from 'node:async_hooks';

export interface WatchAnswersOptions {
  readonly bytesMax: number;
  /** How long a call whose answer broke off is waited for: servers may let their clients take up where they were. */
  readonly resumeMs: number;
}

export interface WatchedAnswers {
  /** In the place of `fetch`. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** Does a call. Rejects when its answer ended, or was too long, and there is no result a while later. */
  follow<Result>(call: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
}

/**
 * Looks at the answers of a server below the library, which reads them whatever their length and, when the connection
 * of an answer breaks, goes on waiting for it as long as a call may take.
 */
export function watchAnswers({ bytesMax, resumeMs }: WatchAnswersOptions): WatchedAnswers {
  /** Which call a request belongs to. */
  const calls = new AsyncLocalStorage<{ onEnd: (problem: string) => void }>();
  return {
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const { body, status, statusText, headers } = response;
      // What a server tells on its own accord comes in a stream that never ends, and is not counted.
      const isAnswer = init?.method === 'POST' || new Headers(init?.headers).has('last-event-id');
      if (body === null || !isAnswer || (status >= 300 && status < 400)) return response;
      const onEnd = calls.getStore()?.onEnd ?? (() => {});
      return new Response(count(body, bytesMax, onEnd), { status, statusText, headers });
    },
    follow: async (call) => {
      const stop = new AbortController();
      let problem: string | undefined;
      let timer: NodeJS.Timeout | undefined;
      const onEnd = (reason: string): void => {
        problem ??= reason;
        timer ??= setTimeout(() => stop.abort(), resumeMs);
      };
      try {
        return await calls.run({ onEnd }, async () => await call(stop.signal));
      } catch (error) {
        // As fetch itself says that a connection was lost.
        throw stop.signal.aborted ? new TypeError(problem, { cause: error }) : error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The same bytes, up to a number of them. The end is told, however it comes. */
function count(
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
  onEnd: (problem: string) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return onEnd('the answer broke off');
        }
        bytes += value.length;
        if (bytes > bytesMax) throw new TypeError(`the answer has more than ${bytesMax} bytes`);
        controller.enqueue(value);
      } catch (error) {
        onEnd(error instanceof Error ? error.message : String(error));
        controller.error(error);
        await reader.cancel().catch(() => {});
      }
    },
    cancel: async (reason) => await reader.cancel(reason),
  });
}
