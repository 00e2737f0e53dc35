import type { GatewayEvent } from '../../gateway/events.ts';

/** The model requests of one program that the endpoint has refused lately, with their status. Opencode reports the message only. */
export class Refusals {
  #known: { readonly message: string; readonly status: number }[] = [];

  /** What passes the gateway. */
  take({ event }: GatewayEvent): void {
    if (event.type !== 'failed' || event.failure.status === null) return;
    const { message, status } = event.failure;
    this.#known = [{ message, status }, ...this.#known].slice(0, KNOWN_MAX);
  }

  /** The status of the newest refusal with this message; null if none is known. */
  statusOf(message: string): number | null {
    if (message === '') return null;
    return this.#known.find((one) => one.message.includes(message) || message.includes(one.message))?.status ?? null;
  }
}

/** More than agents that fail at once. */
const KNOWN_MAX = 50;
