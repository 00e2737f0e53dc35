import { SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';

/** The server wants to know who asks, or does not like the answer. */
export function isAuthenticationError(error: unknown): boolean {
  if (error instanceof UnauthorizedError) return true;
  return error instanceof SdkHttpError && (error.status === 401 || error.status === 403);
}

/**
 * The request was not looked at, so that sending it again cannot do anything twice: nobody listens there, or a
 * server that was started again does not know the session of the one before.
 */
export function wasNotReceived(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 404 || error.status === 400;
  if (error instanceof SdkError) return error.code === SdkErrorCode.NotConnected;
  return findCode(error) === 'ECONNREFUSED';
}

/** The connection is of no use any more. What the server says about a call, or a call that takes long, is no reason. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof SdkError) return error.code !== SdkErrorCode.RequestTimeout;
  return error instanceof UnauthorizedError || error instanceof TypeError;
}

/** For people: `fetch failed` says little, what is behind it says more. */
export function toMessage(error: unknown): string {
  const code = findCode(error);
  const message = error instanceof Error ? error.message : String(error);
  return (code === undefined ? message : `${message} (${code})`).slice(0, MESSAGE_CHARS_MAX);
}

const MESSAGE_CHARS_MAX = 500;

/** Of the system, from wherever it is in the chain of causes. */
function findCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    // The library has codes of its own, for what is behind them.
    if (!(at instanceof SdkError) && 'code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
