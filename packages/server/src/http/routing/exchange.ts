import type { IncomingMessage, ServerResponse } from 'node:http';
import { FleetloomError } from '../../base/errors.ts';
import { sendAnswer } from '../response/answer.ts';
import type { Credential } from '../../keys/credential.ts';
import type { ClientOrigin } from '../connections/client-origin.ts';
import type { RequestSlot } from '../connections/connections.ts';
import { requestError } from '../../base/request-error.ts';
import type { RequestLogEntry } from '../../base/request-log.ts';
import { ClientGone } from '../request/client-gone.ts';
import { encodeWireEvent } from '../streams/sse/event-encoder.ts';
import type { EventStream } from '../streams/sse/event-stream.ts';
import { pathOf } from './request-path.ts';
import { type ErrorAnswer, toErrorAnswer } from '../response/to-error-answer.ts';

/** A request and its response, as Node's objects. */
export interface ExchangePair {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** One request with its response, and the data known about them so far. */
export class Exchange {
  readonly id: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The address of the client, behind proxies that the operator trusts. */
  readonly address: string | undefined;
  /** Whether the client uses https. */
  readonly isSecure: boolean;
  route: string | undefined;
  stream: EventStream | undefined;
  isCredentialWatched = false;
  readonly #slot: RequestSlot;
  #credential: Credential | undefined;
  #isRefused = false;
  #errorCode: string | undefined;
  /** The status to log if the response was not sent in the usual way. */
  #status: number | undefined;

  constructor(id: string, pair: ExchangePair, slot: RequestSlot, { address, isSecure }: ClientOrigin) {
    const { incoming, outgoing } = pair;
    this.id = id;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.#slot = slot;
    this.address = address;
    this.isSecure = isSecure;
    outgoing.setHeader('request-id', id);
  }

  get credential(): Credential | undefined {
    return this.#credential;
  }

  /** Called when the credential was found valid. Throws if that credential has too many requests in progress. */
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
   * Responds with an error, as far as a response is still possible. Never throws, because it is called where code has
   * thrown. Only the first error is sent and logged; later errors are its consequences.
   */
  refuse(error: unknown, onError: (error: unknown, requestId: string) => void): void {
    if (this.#isRefused) return void this.outgoing.destroy();
    this.#isRefused = true;
    if (error instanceof ClientGone) {
      this.note(error, CLIENT_GONE);
      return void this.outgoing.destroy();
    }
    const answer = toErrorAnswer(error, this.id);
    this.note(error, answer.status);
    try {
      if (answer.status >= 500) onError(error, this.id);
      this.#sendError(answer);
    } catch {
      // The error response or the log has failed, too. The connection must not stay open.
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

  /** Ends the response because its credential is no longer valid. A stream ends in order; any other response is cut off. */
  expel(): void {
    this.note(requestError('credential_ended', 'this credential was revoked, signed out or has expired'), 401);
    if (this.stream === undefined) this.outgoing.destroy();
    else this.stream.end();
  }

  /** Records the first error; later errors are its consequences. */
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
      // For Node, a response whose connection is destroyed with bytes left to send also counts as finished.
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

/** The status that other servers log for a client that left. It is never sent. */
export const CLIENT_GONE = 499;
