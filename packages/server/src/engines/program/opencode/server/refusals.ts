import type { GatewayEvent } from '../../gateway/events.ts';

/** The newest error responses of the endpoint to one program, with their status. opencode reports the message only. */
export class Refusals {
  #known: { readonly message: string; readonly status: number }[] = [];

  /** Takes an event of the gateway. */
  take({ event }: GatewayEvent): void {
    if (event.type !== 'failed' || event.failure.status === null) return;
    const { message, status } = event.failure;
    this.#known = [{ message, status }, ...this.#known].slice(0, KNOWN_MAX);
  }

  /** The status of the newest error response with this message; null if none is known. */
  statusOf(message: string): number | null {
    if (message === '') return null;
    return this.#known.find((one) => one.message.includes(message) || message.includes(one.message))?.status ?? null;
  }
}

/** Enough for all agents that fail at the same time. */
const KNOWN_MAX = 50;
