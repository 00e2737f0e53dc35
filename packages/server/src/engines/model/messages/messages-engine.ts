import type { Engine } from '../engine.ts';
import type { MessagesEngineOptions } from './options.ts';

/**
 * An engine for any endpoint of the Messages API, through the official SDK. A request is never
 * repeated here, because the session logs every attempt.
 *
 * @example
 * const engine = createMessagesEngine({ credential: { apiKey: 'sk-ant-…' } });
 * for await (const event of engine.request(request, signal)) console.log(event.type);
 */
export function createMessagesEngine(options: MessagesEngineOptions): Engine {
  let engine: Promise<Engine> | undefined;
  let isClosed = false;
  // The SDK is a sixth of what a server loads, and it is not needed before the first request.
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

/** Opens the source at the first read. Not a generator: a reader that leaves while nothing arrives must return at once. */
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
