import { cutText } from '@fleetloom/protocol/fleet';
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { ToolFailure } from '../tool-failure.ts';
import { McpFault } from './mcp-fault.ts';

/** The cause of an error: the library wraps errors of requests while it negotiates the protocol version. */
export function unwrapFault(error: unknown): unknown {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < CAUSES_MAX; at = at.cause, depth++) {
    if (at instanceof McpFault) return at;
  }
  return error;
}

const CAUSES_MAX = 5;

/** Whether the server requires credentials, or rejects the ones that were sent. */
export function isAuthenticationError(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return true;
  return error instanceof SdkHttpError && (error.status === 401 || error.status === 403);
}

/**
 * Whether the request was certainly not processed, so that it can be sent again: no process listens at the address, or a
 * restarted server does not know the earlier session.
 */
export function wasNotReceived(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 404 || error.status === 400;
  if (error instanceof SdkError) return error.code === SdkErrorCode.NotConnected;
  if (error instanceof McpFault && !error.wasSent) return true;
  return findCode(error) === 'ECONNREFUSED';
}

/** Whether the connection is unusable. An error that the server returns for a call, or a call that times out, does not count. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof SdkError) return error.code !== SdkErrorCode.RequestTimeout;
  return !(error instanceof ProtocolError || error instanceof ToolFailure);
}

/**
 * The status or the kind of failure as text. It contains nothing that the server sent: a caller that names a server
 * could otherwise read what only this machine can reach.
 */
export function toReason(error: unknown): string {
  if (error instanceof McpFault || error instanceof ToolFailure) return error.message;
  if (error instanceof SdkHttpError) return `it answered with status ${error.status}`;
  if (error instanceof UnauthorizedError) return 'it answered with status 401';
  if (error instanceof InsufficientScopeError) return 'it answered with status 403';
  if (error instanceof ProtocolError) return `it answered with the error ${error.code}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return 'the request timed out';
  return 'its answer does not follow the protocol';
}

/** The server's message about a call that it rejected, for the model that made the call. */
export function toRefusal(error: unknown): string {
  return error instanceof ProtocolError ? cutText(error.message, MESSAGE_CHARS_MAX) : toReason(error);
}

const MESSAGE_CHARS_MAX = 500;

/** The first system error code in the chain of causes. */
function findCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < CAUSES_MAX; at = at.cause, depth++) {
    // Skips the library's own codes, which wrap the cause.
    if (!(at instanceof SdkError) && 'code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
