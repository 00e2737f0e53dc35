import { modelLimits } from '../limits.ts';
import { ignoringFailure } from '../../../base/in-background.ts';

/**
 * Wraps `fetch` for the SDK, which follows redirects with the key in its headers and reads the whole body of an error, of any
 * length: a redirect becomes an error, and only the beginning of an error body is read.
 */
export function guardFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.ok) return response;
    const { status, headers } = response;
    const isRedirect = status >= 300 && status < 400;
    if (!isRedirect) return new Response(await readBeginning(response), { status, headers });
    ignoringFailure(response.body?.cancel());
    return Response.json(REDIRECT, { status });
  };
}

const REDIRECT = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: 'the endpoint redirects to another address, which is not followed: use that address as the base URL',
  },
};

/** Reads the beginning of a body, for a limited time. */
async function readBeginning({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  const isLate = { done: true, value: undefined } as const;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof isLate>((resolve) => {
    timer = setTimeout(() => resolve(isLate), modelLimits.engineErrorMs);
  });
  let text = '';
  let bytes = 0;
  try {
    while (bytes < modelLimits.engineErrorBytesMax) {
      const { done, value } = await Promise.race([reader.read(), late]);
      if (done) break;
      text += decoder.decode(value.subarray(0, modelLimits.engineErrorBytesMax - bytes), { stream: true });
      bytes += value.length;
    }
  } catch {
    // The status is sufficient; the rest of the body is only its message.
  } finally {
    clearTimeout(timer);
    ignoringFailure(reader.cancel());
  }
  return text;
}
