import { type FleetWatch, watchFleet, type WatchFleetOptions } from '@fleetloom/client';
import { timedFetch } from './clock.ts';

/** Callbacks of the hub about its connection. */
export interface OpenWatchOptions extends Pick<WatchFleetOptions, 'onConnection' | 'signal'> {
  /** Called when bytes arrive: events, or keep-alives between them. */
  readonly onBytes: () => void;
}

/** Opens the fleet stream with everything the signed-in user may see: text deltas, thinking and rows of the list of sessions included. */
export function openWatch(base: string, { onBytes, ...options }: OpenWatchOptions): FleetWatch {
  const observedFetch: typeof fetch = async (input, init) => {
    const response = await timedFetch(input, init);
    if (response.body === null) return response;
    const observer = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        onBytes();
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(observer), response);
  };
  return watchFleet({ url: base, gate: 'live', include: ['thinking', 'sessions'], fetch: observedFetch, ...options });
}
