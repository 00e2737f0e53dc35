import type { Clock } from '../../base/clock.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { Engine } from '../engine.ts';
import type { Governor } from './governor.ts';

/** Exactly one of key and token. */
export type Credential = { readonly apiKey: string } | { readonly authToken: string };

export interface MessagesEngineOptions {
  credential: Credential;
  /** Of an endpoint that speaks the Messages API; Anthropic's by default. */
  baseURL?: string | undefined;
  /** How requests leave this process. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Shared by all engines that talk to the same endpoint; by default the engine has its own. */
  governor?: Governor | undefined;
  /** Longest answer, instead of what each model is known to manage. */
  maxTokens?: number | undefined;
  /** Whether endpoints are asked to keep what repeats. Some do not know how. */
  caching?: boolean | undefined;
  firstByteMs?: number | undefined;
  silenceMs?: number | undefined;
  clock?: Clock | undefined;
  schedule?: Schedule | undefined;
}

/**
 * An engine over any endpoint of the Messages API, through the official SDK. One request is one request: it is never
 * repeated here, because the session writes down every attempt.
 *
 * @example
 * const engine = createMessagesEngine({ credential: { apiKey: 'sk-ant-…' } });
 * for await (const event of engine.request(request, signal)) console.log(event.type);
 */
export function createMessagesEngine(options: MessagesEngineOptions): Engine {
  let engine: Promise<Engine> | undefined;
  let isClosed = false;
  // The SDK is a sixth of what a server loads, and nobody waits for it before the first request is made.
  const load = async () => (await import('./sdk-engine.ts')).createSdkEngine(options);
  return {
    request: (request, signal) =>
      readLater(async () => {
        const loaded = await (engine ??= load());
        if (isClosed) await loaded.close();
        return loaded.request(request, signal);
      }),
    close: async () => {
      isClosed = true;
      await (await engine)?.close();
    },
  };
}

/** What is opened when somebody begins to read. No generator: whoever leaves in the middle of a silence does so at once. */
function readLater<Item>(open: () => Promise<AsyncIterable<Item>>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]: () => {
      let reading: Promise<AsyncIterator<Item>> | undefined;
      return {
        next: async () => {
          reading ??= open().then((items) => items[Symbol.asyncIterator]());
          return await (await reading).next();
        },
        return: async () => {
          await (await reading)?.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
