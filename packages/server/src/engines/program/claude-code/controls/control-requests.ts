import { createMessage, type StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../../limits.ts';
import type { Cancel, Schedule } from '../../../../base/schedule.ts';
import { record, text } from '../../lines/values.ts';

/** The response of the program to a control request. */
export type ControlReply =
  | { readonly type: 'success'; readonly response: Record<string, unknown> }
  | { readonly type: 'unsupported' }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'exited' };

interface Pending {
  readonly resolve: (reply: ControlReply) => void;
  readonly cancel: Cancel;
}

/** Requests to the program with a response of one line each, matched by their ids. */
export class ControlRequests {
  readonly #write: (line: string) => void;
  readonly #schedule: Schedule;
  readonly #pending = new Map<string, Pending>();
  #count = 0;
  #isClosed = false;

  constructor({ write, schedule }: { readonly write: (line: string) => void; readonly schedule: Schedule }) {
    this.#write = write;
    this.#schedule = schedule;
  }

  async ask(subtype: string, fields: Record<string, unknown>): Promise<ControlReply> {
    if (this.#isClosed) return { type: 'exited' };
    if (this.#pending.size >= programLimits.programControlsMax) return { type: 'failed', message: TOO_MANY };
    const requestId = `${PREFIX}${++this.#count}`;
    return await new Promise((resolve) => {
      const cancel = this.#schedule(() => this.#settle(requestId, NO_ANSWER), programLimits.programControlMs);
      this.#pending.set(requestId, { resolve, cancel });
      this.#write(createMessage.request(subtype, fields, { requestId }));
    });
  }

  /** Whether the line is a response to one of these requests, including requests that have timed out. */
  take(line: StreamJsonMessage): boolean {
    const response = line.type === 'control_response' ? record(line['response']) : undefined;
    const requestId = text(response?.['request_id']);
    if (response === undefined || requestId?.startsWith(PREFIX) !== true) return false;
    this.#settle(requestId, toReply(response));
    return true;
  }

  /** Settles all requests: the program has exited. */
  close(): void {
    this.#isClosed = true;
    for (const requestId of this.#pending.keys()) this.#settle(requestId, { type: 'exited' });
  }

  #settle(requestId: string, reply: ControlReply): void {
    const pending = this.#pending.get(requestId);
    if (pending === undefined) return;
    this.#pending.delete(requestId);
    pending.cancel();
    pending.resolve(reply);
  }
}

const PREFIX = 'fleetloom-control-';
const TOO_MANY = `${programLimits.programControlsMax} requests already wait for its answer`;
const NO_ANSWER: ControlReply = {
  type: 'failed',
  message: `it did not answer within ${programLimits.programControlMs / 1000} s`,
};

function toReply(response: Record<string, unknown>): ControlReply {
  if (response['subtype'] === 'success') return { type: 'success', response: record(response['response']) ?? {} };
  const message = text(response['error']) ?? 'it refused without a reason';
  return message.startsWith('Unsupported control request') ? { type: 'unsupported' } : { type: 'failed', message };
}
