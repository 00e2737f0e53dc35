import { findBuiltInTool } from '@fleetloom/protocol/managed-agents';
import type { ResultBlock } from '../base/content.ts';
import { baseLimits } from '../base/limits.ts';
import { viewLimits } from './limits.ts';
import type { SessionFrame } from '../frames/frames.ts';
import type { Store } from '../store/store.ts';
import { readForward } from './read-frames.ts';

/** An address that a session was shown: by its users, by a tool of the client or by one of ours for the web. */
export interface ShownUrl {
  readonly url: string;
  readonly source: 'user_input' | 'client_tool_results' | 'server_tool_results';
  readonly tool?: string | undefined;
}

/**
 * Which addresses a session was shown, of all its threads: a member may be sent where the user pointed its coordinator.
 * Each call reads on from where the last one stopped. What agents say to each other and to themselves shows nothing: a page
 * could have talked them into it.
 */
export function createShownUrls(store: Pick<Store, 'read'>, sessionId: string): () => Promise<Iterable<ShownUrl>> {
  const shown = new Map<string, ShownUrl>();
  /** The tools whose results are to come, by the id of the call. */
  const calls = new Map<string, string>();
  let cursor = 0;
  let reading: Promise<void> = Promise.resolve();

  return async () => {
    // One after the other: two that read at once would both move the cursor.
    reading = reading.catch(() => {}).then(readOn);
    await reading;
    return [...shown.values()];
  };

  async function readOn(): Promise<void> {
    for await (const frame of readForward(store, sessionId, cursor, undefined, { skipsDeltas: true })) {
      take(frame);
      cursor = frame.seq;
    }
  }

  function take({ type, payload }: SessionFrame): void {
    if (type === 'user.message') keep(payload.content, { source: 'user_input' });
    else if (type === 'agent.custom_tool_use') calls.set(payload.id, payload.name);
    else if (type === 'agent.tool_use' && findBuiltInTool(payload.name)?.isWebTool) calls.set(payload.id, payload.name);
    else if (type === 'user.custom_tool_result') {
      keep(payload.content, { source: 'client_tool_results', tool: takeCall(payload.custom_tool_use_id) });
    } else if (type === 'agent.tool_result') {
      const tool = takeCall(payload.tool_use_id);
      // An error repeats the address of the call: an address that was refused once would be allowed the second time.
      if (tool !== undefined && !payload.is_error) keep(payload.content, { source: 'server_tool_results', tool });
    }
  }

  function takeCall(id: string): string | undefined {
    const name = calls.get(id);
    calls.delete(id);
    return name;
  }

  function keep(content: readonly ResultBlock[], from: Omit<ShownUrl, 'url'>): void {
    for (const url of content.flatMap(textsOf).flatMap(urlsIn)) {
      const key = `${from.source} ${from.tool ?? ''} ${url}`;
      // The newest are kept longest.
      shown.delete(key);
      shown.set(key, { url, ...from });
      const [oldest] = shown.keys();
      if (shown.size > viewLimits.shownUrlsMax && oldest !== undefined) shown.delete(oldest);
    }
  }
}

function textsOf(block: ResultBlock): string[] {
  if (block.type === 'text') return [block.text];
  if (block.type === 'search_result') return [block.source, ...block.content.map(({ text }) => text)];
  return [];
}

/** As it stands there, and without what a sentence puts behind it. */
function urlsIn(text: string): string[] {
  const found: string[] = [];
  for (const [each] of text.matchAll(/https?:\/\/[^\s<>"'`]+/gi)) {
    if (each.length > baseLimits.webFetchUrlCharsMax) continue;
    found.push(each);
    // Only the newest are kept anyway, and each takes a while to read.
    if (found.length > 2 * viewLimits.shownUrlsMax) found.splice(0, viewLimits.shownUrlsMax);
  }
  return found
    .slice(-viewLimits.shownUrlsMax)
    .flatMap((each) => [...new Set([each, withoutEnd(each)])])
    .flatMap(normalize);
}

function withoutEnd(url: string): string {
  let end = url.length;
  // Not a regular expression: it would start again at each of these characters in the middle.
  while (end > 0 && SENTENCE_ENDS.includes(url.charAt(end - 1))) end--;
  return url.slice(0, end);
}

const SENTENCE_ENDS = '.,;:!?)]}*_|\\';

/** The way in which `web_fetch` compares. */
function normalize(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  url.hash = '';
  return [url.href];
}
