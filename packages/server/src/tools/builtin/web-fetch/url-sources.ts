import type { Json, JsonObject } from '../../../base/json/json.ts';
import { ToolFailure } from '../../tool-failure.ts';
import { toObject, toObjects } from '../../toolset.ts';

/** A URL that has appeared in the session, and its source. */
export interface ShownUrl {
  /** The URL as normalised by `toShownUrl`. */
  readonly url: string;
  readonly source: 'user_input' | 'client_tool_results' | 'server_tool_results';
  /** The tool whose result contained the URL. */
  readonly tool?: string | undefined;
}

/** Reads all URLs that appeared in the session so far. */
export type ReadShownUrls = () => Promise<Iterable<ShownUrl>>;

/**
 * Reads `url_sources` of an agent: with it, only URLs are fetched that have appeared in one of its sources. Without it every
 * URL may be fetched.
 */
export function readUrlSources(config: JsonObject, readShown: ReadShownUrls): (url: URL) => Promise<void> {
  const sources = config['url_sources'];
  if (sources === undefined || sources === null) return async () => {};
  return async (url) => {
    const wanted = toShownUrl(url);
    for (const shown of await readShown()) {
      if (shown.url === wanted && isOpen(toObject(sources)[shown.source], shown.tool)) return;
    }
    throw new ToolFailure(
      `${url.href} cannot be fetched: it was not shown by any source that url_sources of this agent allows`,
    );
  };
}

/** The normalised form of a URL: without its fragment, and with a slash as empty path. */
export function toShownUrl(url: URL): string {
  const plain = new URL(url.href);
  plain.hash = '';
  return plain.href;
}

/** Whether the filter of a source allows a tool. A source without a filter allows all tools. */
function isOpen(filter: Json | undefined, tool: string | undefined): boolean {
  const { type, tools } = toObject(filter);
  const isNamed = toObjects(tools).some(({ name }) => name === tool);
  if (type === 'none') return false;
  if (type === 'only') return isNamed;
  return type === 'except' ? !isNamed : true;
}
