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

/** What is behind an error: the library wraps those of our own requests while it finds out what the server speaks. */
export function unwrapFault(error: unknown): unknown {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < CAUSES_MAX; at = at.cause, depth++) {
    if (at instanceof McpFault) return at;
  }
  return error;
}

const CAUSES_MAX = 5;

/** The server wants to know who asks, or does not like the answer. */
export function isAuthenticationError(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return true;
  return error instanceof SdkHttpError && (error.status === 401 || error.status === 403);
}

/**
 * The request was not looked at, so that sending it again cannot do anything twice: no process listens there, or a
 * server that was started again does not know the session of the one before.
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
 * The status or the kind of failure, for people. Nothing that the server sent is in it: the caller who names a server
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

/** The server's message about a call that it refused, which is for the model that made the call. */
export function toRefusal(error: unknown): string {
  return error instanceof ProtocolError ? cutText(error.message, MESSAGE_CHARS_MAX) : toReason(error);
}

const MESSAGE_CHARS_MAX = 500;

/** Of the system, from wherever it is in the chain of causes. */
function findCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < CAUSES_MAX; at = at.cause, depth++) {
    // The library has codes of its own, for what is behind them.
    if (!(at instanceof SdkError) && 'code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
