import type { IncomingMessage, ServerResponse } from 'node:http';
import { FleetloomError } from '../base/errors.ts';
import { sendAnswer } from './answer.ts';
import type { Credential } from './auth/credential.ts';
import type { RequestSlot } from './connections/connections.ts';
import { doorError } from './door-error.ts';
import type { RequestLogEntry } from './request-log.ts';
import { ClientGone } from './request/read-body.ts';
import { encodeWireEvent } from './sse/event-encoder.ts';
import type { EventStream } from './sse/event-stream.ts';
import { type ErrorAnswer, toErrorAnswer } from './to-error-answer.ts';

/** One request with its answer, and what is known about them so far. */
export class Exchange {
  readonly id: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  route: string | undefined;
  stream: EventStream | undefined;
  readonly #slot: RequestSlot;
  #credential: Credential | undefined;
  #isRefused = false;
  #errorCode: string | undefined;
  /** When nothing was sent in the usual way. */
  #status: number | undefined;

  constructor(id: string, incoming: IncomingMessage, outgoing: ServerResponse, slot: RequestSlot) {
    this.id = id;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.#slot = slot;
    outgoing.setHeader('request-id', id);
  }

  get credential(): Credential | undefined {
    return this.#credential;
  }

  /** The request has a valid credential. Throws if that credential has too many requests under way. */
  authenticated(credential: Credential): void {
    this.#credential = credential;
    this.#slot.authenticated(credential.id);
  }

  /** Answers `Expect: 100-continue`: the body will be read. */
  acceptBody(): void {
    const isAwaited = this.incoming.headers.expect?.toLowerCase() === '100-continue';
    if (isAwaited && !this.outgoing.headersSent && !this.outgoing.destroyed) this.outgoing.writeContinue();
  }

  /**
   * Answers with an error, as far as an answer is still possible. Never throws, because it is called where something has
   * thrown. Only the first error is sent and logged; later ones are its consequences.
   */
  refuse(error: unknown, onMishap: (error: unknown, requestId: string) => void): void {
    if (this.#isRefused) return void this.outgoing.destroy();
    this.#isRefused = true;
    if (error instanceof ClientGone) {
      this.note(error, CLIENT_GONE);
      return void this.outgoing.destroy();
    }
    const answer = toErrorAnswer(error, this.id);
    this.note(error, answer.status);
    try {
      if (answer.status >= 500) onMishap(error, this.id);
      this.#sendError(answer);
    } catch {
      // The error answer or the log has failed, too. The connection must not stay open.
      this.outgoing.destroy();
    }
  }

  #sendError(answer: ErrorAnswer): void {
    if (!this.outgoing.headersSent) return sendAnswer(this.outgoing, answer);
    // In a stream an error is an event, which clients throw.
    if (this.stream === undefined) return void this.outgoing.destroy();
    this.stream.send(encodeWireEvent(answer.body));
    this.stream.end();
  }

  /** Its credential does not count any more. A stream ends in order; what is half sent breaks off, so that it is seen. */
  expel(): void {
    this.note(doorError('credential_ended', 'this credential was revoked, signed out or has expired'), 401);
    if (this.stream === undefined) this.outgoing.destroy();
    else this.stream.end();
  }

  /** The first is the cause of those that follow. */
  note(error: unknown, status: number): void {
    this.#errorCode ??= toCode(error);
    this.#status ??= status;
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
      // An answer whose connection is destroyed with bytes left to send also counts as finished for Node.
      isComplete: outgoing.writableFinished && !incoming.socket.destroyed,
      workspaceId: this.#credential?.workspaceId,
      credentialId: this.#credential?.id,
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
