import { ignoringFailure } from '../../base/in-background.ts';
import type { JsonObject } from '../../base/json/json.ts';
import type { Allowance } from './message-guard.ts';
import { McpFault } from './mcp-fault.ts';

/** The limits of one exchange with an MCP server. */
export interface ExchangeOptions {
  readonly allowance: Allowance;
  /** How long the whole exchange may take. */
  readonly withinMs: number;
  /** How long to wait after a response broke off, because servers may let clients resume it. */
  readonly resumeMs?: number | undefined;
  /** Ends the exchange early. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A group of requests and responses: a call, a list, a handshake. When it has ended, none of its requests is
 * open, whatever the server does.
 */
export class Exchange {
  readonly allowance: Allowance;
  #result: JsonObject | undefined;
  readonly #resumeMs: number | undefined;
  readonly #stop = new AbortController();
  readonly #closers = new Set<() => void>();
  #fault: McpFault | undefined;
  #fail: (fault: McpFault) => void = () => {};
  #resume: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor({ allowance, resumeMs }: Pick<ExchangeOptions, 'allowance' | 'resumeMs'>) {
    this.allowance = allowance;
    this.#resumeMs = resumeMs;
  }

  /** Runs the work of the exchange. Rejects as soon as there is a fault, even if the library has not noticed it. */
  async run<Result>(
    work: () => Promise<Result>,
    { withinMs, signal }: Pick<ExchangeOptions, 'withinMs' | 'signal'>,
  ): Promise<Result> {
    const failed = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
    });
    const onAbort = (): void => this.fail(new McpFault('unreachable', 'it was interrupted'));
    const patience = setTimeout(() => this.fail(late(withinMs)), withinMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const working = work();
      ignoringFailure(working);
      if (signal?.aborted === true) onAbort();
      return await Promise.race([working, failed]);
    } catch (error) {
      throw this.#fault ?? error;
    } finally {
      this.#isOver = true;
      clearTimeout(patience);
      clearTimeout(this.#resume);
      signal?.removeEventListener('abort', onAbort);
      for (const close of this.#closers) close();
    }
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Sets the result of the last request. */
  give(result: JsonObject): void {
    this.#result = result;
  }

  /** Takes the result of the last request. The response may not be a result. */
  take(): JsonObject {
    const result = this.#result;
    this.#result = undefined;
    if (result === undefined) throw new McpFault('broken', 'its answer does not follow the protocol');
    return result;
  }

  fail(fault: McpFault): void {
    if (this.#isOver) return;
    this.#fault ??= fault;
    this.#fail(this.#fault);
    this.#stop.abort();
  }

  /** Called when a response has ended. If its result is missing, waits a limited time for a resumed response. */
  broke(fault: McpFault): void {
    if (this.#isOver || this.#resumeMs === undefined) return;
    this.#resume ??= setTimeout(() => this.fail(fault), this.#resumeMs);
  }

  /** Registers a function to call at the end. Returns the function that unregisters it. */
  onEnd(close: () => void): () => void {
    if (this.#isOver) close();
    else this.#closers.add(close);
    return () => this.#closers.delete(close);
  }
}

/** The fault of a server that did not respond in time. */
export function late(ms: number): McpFault {
  return new McpFault('late', `there was no answer within ${ms} ms`);
}
