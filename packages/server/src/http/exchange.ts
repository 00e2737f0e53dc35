import type { IncomingMessage, ServerResponse } from 'node:http';
import { FleetloomError } from '../base/errors.ts';
import { sendAnswer } from './answer.ts';
import type { Credential } from './auth/credential.ts';
import type { RequestLogEntry } from './request-log.ts';
import { ClientGone } from './request/read-body.ts';
import { encodeWireEvent } from './sse/event-encoder.ts';
import type { EventStream } from './sse/event-stream.ts';
import { toErrorAnswer } from './to-error-answer.ts';

/** One request with its answer, and what is known about them so far. */
export class Exchange {
  readonly id: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  route: string | undefined;
  credential: Credential | undefined;
  stream: EventStream | undefined;
  #errorCode: string | undefined;
  /** When nothing was sent in the usual way. */
  #status: number | undefined;

  constructor(id: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.id = id;
    this.incoming = incoming;
    this.outgoing = outgoing;
    outgoing.setHeader('request-id', id);
  }

  /** Answers with an error, as far as an answer is still possible. */
  refuse(error: unknown, onMishap: (error: unknown, requestId: string) => void): void {
    if (error instanceof ClientGone) return this.note(error, CLIENT_GONE);
    const answer = toErrorAnswer(error, this.id);
    this.note(error, answer.status);
    if (answer.status >= 500) onMishap(error, this.id);
    if (!this.outgoing.headersSent) return sendAnswer(this.outgoing, answer);
    // In a stream an error is an event, which clients throw.
    if (this.stream === undefined) this.outgoing.destroy();
    else {
      this.stream.send(encodeWireEvent(answer.body));
      this.stream.end();
    }
  }

  note(error: unknown, status: number): void {
    this.#errorCode = toCode(error);
    this.#status = status;
  }

  toLogEntry(durationMs: number): RequestLogEntry {
    const { incoming, outgoing } = this;
    return {
      requestId: this.id,
      method: incoming.method ?? '',
      path: pathOf(incoming),
      route: this.route,
      status: outgoing.headersSent ? outgoing.statusCode : (this.#status ?? CLIENT_GONE),
      durationMs,
      isStream: this.stream !== undefined,
      isComplete: outgoing.writableFinished,
      workspaceId: this.credential?.workspaceId,
      credentialId: this.credential?.id,
      errorCode: this.#errorCode,
    };
  }
}

function toCode(error: unknown): string {
  if (error instanceof ClientGone) return 'client_gone';
  return error instanceof FleetloomError ? error.code : 'unexpected';
}

/** As other servers log it. Nobody is sent this. */
export const CLIENT_GONE = 499;

/** Without the query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
