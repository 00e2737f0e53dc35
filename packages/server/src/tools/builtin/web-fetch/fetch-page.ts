import { cutText } from '@fleetloom/protocol/fleet';
import { untilAborted } from '../../../base/until-aborted.ts';
import type { IncomingMessage } from 'node:http';
import { Interrupted, ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import { type AddressRules, findAddresses as findAllowed } from '../../network/find-addresses.ts';
import { openPage } from './open-page.ts';
import { type PageText, readPage } from './read-page.ts';

export interface FetchPageOptions extends AddressRules {
  readonly limits: ToolLimits;
}

/** The text of a page, and the address after redirects. */
export interface FetchedPage extends PageText {
  readonly url: URL;
  readonly status: number;
}

/** Fetches a page and follows its redirects. Each redirect is checked like the first URL: by `check`, and by the address to connect to. */
export async function fetchPage(
  start: URL,
  check: (url: URL) => void,
  options: FetchPageOptions,
  signal: AbortSignal,
): Promise<FetchedPage> {
  const { webFetchTimeoutMs, webFetchRedirectsMax, webFetchBytesMax } = options.limits;
  const timeout = AbortSignal.timeout(webFetchTimeoutMs);
  const stop = AbortSignal.any([signal, timeout]);
  try {
    let url = start;
    for (let redirects = 0; redirects <= webFetchRedirectsMax; redirects++) {
      checkUrl(url);
      check(url);
      const response = await connect(url, options, stop);
      // The reader of the body receives errors; afterwards there is no reader.
      response.on('error', () => {});
      try {
        const next = readRedirect(response, url);
        if (next === undefined) {
          return { url, status: response.statusCode ?? 0, ...(await readPage(response, webFetchBytesMax)) };
        }
        url = next;
      } finally {
        response.destroy();
      }
    }
    throw new ToolFailure(`the page redirects more than ${webFetchRedirectsMax} times`);
  } catch (error) {
    if (signal.aborted) throw new Interrupted();
    if (timeout.aborted) throw new ToolFailure(`the page did not come within ${webFetchTimeoutMs} ms`);
    throw toFailure(error);
  }
}

function checkUrl(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ToolFailure(`${url.protocol} is not an address of a page: use http: or https:`);
  }
  if (url.username !== '' || url.password !== '')
    throw new ToolFailure('an address cannot have a user and a password in it');
}

/** Tries the allowed addresses of the host, one after the other. */
async function connect(url: URL, options: FetchPageOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const addresses = await findAddresses(url, options, signal);
  let failure: unknown;
  for (const address of addresses.slice(0, ADDRESSES_MAX)) {
    try {
      return await openPage({ url, address, connectMs: options.limits.webFetchConnectMs, signal });
    } catch (error) {
      failure = error;
      if (signal.aborted) break;
    }
  }
  throw failure;
}

const ADDRESSES_MAX = 4;

async function findAddresses(url: URL, options: FetchPageOptions, signal: AbortSignal): Promise<readonly string[]> {
  const found = await untilAborted(findAllowed(url, options, signal), signal);
  if (found.type === 'found') return found.addresses;
  throw new ToolFailure(
    found.type === 'none'
      ? `${url.hostname} has no address`
      : `${url.host} is not on the public internet, and only pages there can be fetched`,
  );
}

function readRedirect(response: IncomingMessage, url: URL): URL | undefined {
  const { statusCode = 0, headers } = response;
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined;
  if (!URL.canParse(headers.location, url.href)) {
    throw new ToolFailure(`the page redirects to an invalid address: ${cutText(headers.location, 200)}`);
  }
  return new URL(headers.location, url);
}

function toFailure(error: unknown): unknown {
  if (error instanceof ToolFailure || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new ToolFailure('there is no host of this name', { cause: error });
  return new ToolFailure(`the page cannot be fetched (${code === '' ? error.message : code})`, { cause: error });
}
