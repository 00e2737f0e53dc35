import { programLimits } from '../../limits.ts';

/**
 * The newest calls with a result. A transcript that is read before a permission request may contain the call and its result: then
 * the program no longer waits for a decision.
 */
export class DoneCalls {
  readonly #calls = new Set<string>();

  add(key: string, callId: string): void {
    this.#calls.add(`${key} ${callId}`);
    const [oldest] = this.#calls;
    if (this.#calls.size > programLimits.programAgentCallsMax && oldest !== undefined) this.#calls.delete(oldest);
  }

  has(key: string, callId: string): boolean {
    return this.#calls.has(`${key} ${callId}`);
  }
}
