import { ignoringFailure } from '../../../base/in-background.ts';
import { Interrupted, ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import { type HostAnswer, type HostCall, toHostAnswer } from '../contract/messages.ts';
import { encodeMessage, MessageTooLarge } from '../contract/wire.ts';
import { HostProcess, type HostProcessOptions } from './host-process.ts';

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface PendingCall {
  readonly resolve: (answer: HostAnswer) => void;
  readonly reject: (failure: ToolFailure) => void;
}

/**
 * The calls of one process of a tool host. Each has a deadline, and a shorter one after an interrupt. When the process
 * ends, hangs or sends an unexpected message, it is killed and all calls in progress fail.
 */
export class HostConnection {
  readonly #limits: ToolLimits;
  #process: HostProcess | undefined;
  readonly #pending = new Map<number, PendingCall>();
  #calls = 0;
  #answers = 0;
  #shells = 0;
  #failure: ToolFailure | undefined;

  /** Starts a process. Throws a {@link ToolFailure} if the machine cannot start it. */
  static async start(options: HostProcessOptions): Promise<HostConnection> {
    const connection = new HostConnection(options.limits);
    try {
      connection.#process = await HostProcess.start(options, {
        onMessage: (message) => connection.#take(toHostAnswer(message)),
        onProblem: (reason) => connection.end(reason),
      });
      return connection;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ToolFailure(`the tool process could not be started (${reason}): call again later`, { cause: error });
    }
  }

  private constructor(limits: ToolLimits) {
    this.#limits = limits;
  }

  /** Settles when the process and all processes that it started are gone. */
  get gone(): Promise<void> {
    return this.#process?.gone ?? Promise.resolve();
  }

  get isEnded(): boolean {
    return this.#failure !== undefined;
  }

  /** The number of open shells in the last answer. */
  get shells(): number {
    return this.#shells;
  }

  /** Sends a request and waits for its answer. Throws a {@link ToolFailure}. */
  async call(call: HostCall, { timeoutMs, signal }: CallOptions): Promise<HostAnswer> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = this.#calls++;
    const answer = new Promise<HostAnswer>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
    // The answer may reject while the request still waits to be sent.
    ignoringFailure(answer);
    const timers = [setTimeout(() => this.end(`it did not answer within ${timeoutMs} ms`), timeoutMs)];
    const onAbort = (): void => void timers.push(this.#cancel(id));
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await this.#send({ ...call, id }, signal);
      return await answer;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#pending.delete(id);
    }
  }

  /** Kills the process. All calls fail at once with this reason. */
  end(reason: string): void {
    const isStarted = this.#answers > 0;
    this.#fail(
      isStarted
        ? `the tool process ended (${reason}); what it was doing may be done in part, and the shells of this session are gone: look, then call again`
        : `the tool process did not start (${reason}): call again later`,
    );
  }

  close(): void {
    this.#fail('the session is closed');
  }

  #fail(message: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = new ToolFailure(message);
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
    this.#process?.kill();
  }

  async #send(message: { readonly id: number }, signal: AbortSignal | undefined): Promise<void> {
    await this.#process?.send(() => {
      if (signal?.aborted) throw new Interrupted();
      if (this.#failure !== undefined) throw this.#failure;
      return this.#encode(message);
    });
  }

  /** Cancels a call. If its request still waits to be sent, the host does not know it, and {@link #send} drops it. */
  #cancel(id: number): NodeJS.Timeout {
    ignoringFailure(this.#process?.send(() => this.#encode({ type: 'cancel', id })));
    return setTimeout(() => this.end('it did not stop when it was interrupted'), this.#limits.toolHostCancelMs);
  }

  #encode(message: object): Buffer {
    const { toolHostRequestBytesMax: bytesMax } = this.#limits;
    try {
      return encodeMessage(message, bytesMax);
    } catch (error) {
      if (!(error instanceof MessageTooLarge)) throw error;
      throw new ToolFailure(`the input has ${error.bytes} bytes, and at most ${bytesMax} are taken: send less at once`);
    }
  }

  #take(answer: HostAnswer): void {
    const call = this.#pending.get(answer.id);
    if (call === undefined) throw new Error('no call waits for it');
    this.#pending.delete(answer.id);
    this.#answers++;
    this.#shells = answer.shells;
    call.resolve(answer);
  }
}
