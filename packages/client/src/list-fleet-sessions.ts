import type { FleetSessionList, FleetSessionQuery } from '@fleetloom/protocol/fleet';
import { toResponseError } from './response-error.ts';

/** Options of {@link listFleetSessions}. */
export interface ListFleetSessionsOptions {
  readonly headers?: Record<string, string> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * A page of all sessions of a workspace, filtered, sorted and counted by the server. `baseUrl` is the address of the server; in a
 * page of the server itself it may be empty.
 *
 * @example
 * const { data, facets, total, next_cursor } = await listFleetSessions('http://127.0.0.1:4280', { status: ['failed'] });
 */
export async function listFleetSessions(
  baseUrl: string,
  query: FleetSessionQuery = {},
  { headers, signal, fetch = globalThis.fetch }: ListFleetSessionsOptions = {},
): Promise<FleetSessionList> {
  const search = toSearch(query);
  const url = `${baseUrl.replace(/\/+$/, '')}/v1/fleet/sessions${search === '' ? '' : `?${search}`}`;
  const response = await fetch(url, { headers: { accept: 'application/json', ...headers }, ...(signal && { signal }) });
  if (!response.ok) throw await toResponseError(response);
  return (await response.json()) as FleetSessionList;
}

/** The query as the server reads it: lists repeat their name. */
function toSearch(query: FleetSessionQuery): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) search.append(name, String(each));
  }
  return search.toString();
}
