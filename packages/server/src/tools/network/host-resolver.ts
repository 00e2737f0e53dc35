import { Resolver } from 'node:dns/promises';
import { type Clock, systemClock } from '../../base/clock.ts';
import { CallSlots } from '../call-slots.ts';
import { toolLimits } from '../limits.ts';
import type { ResolveHost } from './find-addresses.ts';
import { HostsFile } from './hosts-file.ts';

/**
 * Resolves the names that agents supply: with the hosts file, then with the name servers of the machine, and without its search
 * domains. `dns.lookup` is not used for them: it occupies one of the few threads of the process until the name servers
 * answer, cannot be cancelled, and a slow name would hold up the lookups of model requests and the end of the process.
 *
 * @example
 * const resolver = new HostResolver();
 * const resolveHost = resolver.forSession();
 * await resolveHost('example.com', signal); // ['93.184.216.34', '2606:2800:…']
 */
export class HostResolver {
  readonly #servers: readonly string[] | undefined;
  readonly #clock: Clock;
  readonly #hosts: HostsFile;
  readonly #slots = new CallSlots(toolLimits.dnsLookupsMax);
  readonly #cache = new Map<string, Cached>();
  readonly #closing = new AbortController();

  constructor(options: HostResolverOptions = {}) {
    this.#servers = options.servers;
    this.#clock = options.clock ?? systemClock;
    this.#hosts = new HostsFile(options.hostsPath, this.#clock);
  }

  /** Creates the resolver of one session. Concurrent lookups above the limit of a session wait. */
  forSession(): ResolveHost {
    const slots = new CallSlots(toolLimits.dnsLookupsPerSessionMax);
    return async (hostname, given) => {
      const name = hostname.toLowerCase().replace(/\.$/, '');
      const known = this.#findLocally(name) ?? this.#findCached(name);
      if (known !== undefined) return known;
      // Each lookup has a signal of its own: many lookups would add more listeners to a shared signal than Node expects.
      const signal = AbortSignal.any([this.#closing.signal, ...(given === undefined ? [] : [given])]);
      return await slots.hold(signal, () => this.#slots.hold(signal, () => this.#lookUp(name, signal)));
    };
  }

  /** Cancels all lookups, also later ones. */
  close(): void {
    this.#closing.abort(new Error('the server is stopping'));
  }

  #findLocally(name: string): readonly string[] | undefined {
    const addresses = this.#hosts.find(name);
    if (addresses.length > 0) return addresses;
    // RFC 6761: these are never looked up elsewhere.
    return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'] : undefined;
  }

  #findCached(name: string): readonly string[] | undefined {
    const cached = this.#cache.get(name);
    if (cached === undefined || cached.until <= this.#clock.steady()) return undefined;
    return cached.addresses;
  }

  async #lookUp(name: string, signal: AbortSignal): Promise<readonly string[]> {
    // Another call may have resolved the name while this one waited.
    const known = this.#findCached(name);
    if (known !== undefined) return known;
    const found = await query(name, this.#servers, signal);
    const ttlMs = Math.min(toolLimits.dnsCacheMs, ...found.map(({ ttl }) => ttl * 1_000));
    const addresses = found.map(({ address }) => address);
    this.#keep(name, { addresses, until: this.#clock.steady() + ttlMs });
    return addresses;
  }

  #keep(name: string, cached: Cached): void {
    this.#cache.delete(name);
    this.#cache.set(name, cached);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > toolLimits.dnsCacheEntriesMax) this.#cache.delete(oldest!);
  }
}

/** Options that tests replace. */
export interface HostResolverOptions {
  /** Name servers as `address:port`. By default the name servers of the machine. */
  readonly servers?: readonly string[] | undefined;
  readonly hostsPath?: string | undefined;
  readonly clock?: Clock | undefined;
}

interface Cached {
  readonly addresses: readonly string[];
  readonly until: number;
}

interface Found {
  readonly address: string;
  /** The time to live, in seconds. */
  readonly ttl: number;
}

/** Runs one query with a resolver of its own: only a whole resolver can be cancelled, and a new one uses the current name servers. */
async function query(
  name: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: toolLimits.dnsTryMs, tries: toolLimits.dnsTriesMax });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  const patience = setTimeout(cancel, toolLimits.dnsLookupMs);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const ttl = { ttl: true } as const;
    const [four, six] = await Promise.allSettled([resolver.resolve4(name, ttl), resolver.resolve6(name, ttl)]);
    signal.throwIfAborted();
    const found = interleave(valueOf(four), valueOf(six));
    if (found.length > 0) return found;
    throw toFailure(name, [four, six]);
  } finally {
    clearTimeout(patience);
    signal.removeEventListener('abort', cancel);
  }
}

/** Alternates addresses of both IP versions: a machine may support only one, and only the first addresses are tried. */
function interleave(four: readonly Found[], six: readonly Found[]): readonly Found[] {
  const longest = four.length > six.length ? four : six;
  return longest.flatMap((_, index) => [four[index] ?? [], six[index] ?? []].flat());
}

function valueOf(outcome: PromiseSettledResult<readonly Found[]>): readonly Found[] {
  return outcome.status === 'fulfilled' ? outcome.value : [];
}

/** The error of a lookup. If a query got no response, the name may have addresses, so it is not reported as missing. */
function toFailure(name: string, outcomes: readonly PromiseSettledResult<unknown>[]): Error {
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as CodedError] : []));
  const other = errors.find(({ code }) => !NOT_FOUND.has(code ?? ''));
  if (other === undefined) return withCode('ENOTFOUND', `there is no host ${name}`);
  const isLate = other.code === 'ETIMEOUT' || other.code === 'ECANCELLED';
  return isLate
    ? withCode('ETIMEOUT', `the name servers did not answer in time for ${name}`)
    : withCode(other.code ?? 'ERROR', `the name servers cannot resolve ${name} (${other.code})`);
}

type CodedError = Error & { readonly code?: string };
const NOT_FOUND: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
