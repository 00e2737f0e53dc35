import { cutText } from '@fleetloom/protocol/fleet';
import { z } from 'zod';
import { inSlices } from '../../../base/in-slices.ts';
import type { JsonObject } from '../../../base/json/json.ts';
import { bindTool, defineTool } from '../../define-tool.ts';
import { type ToolResult, textResult } from '../../tool.ts';
import { ToolFailure } from '../../tool-failure.ts';
import { oncePerLimits, type ToolLimits } from '../../tool-limits.ts';
import type { OpenServerTool, ServerTool, ServerToolOptions } from '../built-in-tool.ts';
import { readDomainRules } from './domain-rules.ts';
import { type FetchedPage, fetchPage } from './fetch-page.ts';
import { PageCache } from './page-cache.ts';
import { readUrlSources } from './url-sources.ts';

/** `web_fetch`: fetches pages, for all agents of a session. Each thread has a cache of its own. */
export const webFetchTool: ServerTool = { name: 'web_fetch', open: openWebFetch };

function openWebFetch(options: ServerToolOptions): OpenServerTool {
  const { clock, limits, allowedPrivateHosts, resolveHost, network, readShownUrls } = options;
  const caches = new Map<string, PageCache>();

  return {
    closeThread: (threadId) => void caches.delete(threadId),
    toTool: (config) => {
      const checkDomain = readDomainRules(config);
      const checkSource = readUrlSources(config, readShownUrls);
      const check = (url: URL) => {
        network.checkHost(url);
        checkDomain(url);
      };
      const charsMax = readCharsMax(config);
      return bindTool(describe(limits), async ({ url: text }, { threadId, signal }) => {
        const url = parseUrl(text);
        const cache = openCache(threadId);
        check(url);
        await checkSource(url);
        const known = cache.get(url.href);
        if (known !== undefined) return known;
        const page = await fetchPage(url, check, { resolveHost, allowedPrivateHosts, limits }, signal);
        const result = await toResult(page, charsMax, limits, signal);
        if (result.type === 'good') cache.set(url.href, result.text);
        return toToolResult(result);
      });
    },
  };

  function openCache(threadId: string): PageCache {
    const cache = caches.get(threadId) ?? new PageCache(clock, limits);
    caches.set(threadId, cache);
    return cache;
  }
}

const describe = oncePerLimits(({ webFetchUrlCharsMax }) =>
  defineTool({
    name: webFetchTool.name,
    description:
      'Fetches a page of the web and gives its text. Only public addresses, and only text, HTML, JSON and XML.',
    input: z.object({
      url: z.string().min(1).max(webFetchUrlCharsMax).describe('The whole address, with https://'),
    }),
  }),
);

/** The approximate number of characters of one token. Tokens are not counted exactly. */
const TOKEN_CHARS = 4;

function readCharsMax({ max_content_tokens: tokens }: JsonObject): number {
  return typeof tokens === 'number' && tokens > 0 ? Math.ceil(tokens * TOKEN_CHARS) : Number.POSITIVE_INFINITY;
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text.trim())) throw new ToolFailure(`${text} is not a whole address: begin it with https://`);
  const url = new URL(text.trim());
  url.hash = '';
  return url;
}

type Fetched = { readonly type: 'good' | 'bad'; readonly text: string };

async function toResult(
  page: FetchedPage,
  charsMax: number,
  { webFetchBytesMax }: ToolLimits,
  signal: AbortSignal,
): Promise<Fetched> {
  const { url, status, isHtml, isCut } = page;
  const text = isHtml ? await reduceHtml(page, signal) : page.text;
  const shown = cutText(text, charsMax);
  const remarks = [
    ...(shown.length < text.length ? [`(cut: the first ${charsMax} of ${text.length} characters)`] : []),
    ...(isCut ? [`(cut: the page has more than ${webFetchBytesMax} bytes)`] : []),
  ];
  const isGood = status >= 200 && status < 300;
  const head = isGood ? url.href : `${url.href} answered with status ${status}`;
  return { type: isGood ? 'good' : 'bad', text: [head, '', shown, ...remarks].join('\n').trimEnd() };
}

/** The parser is loaded by the first page of HTML: the start of a server does not wait for it. */
async function reduceHtml({ text, url }: FetchedPage, signal: AbortSignal): Promise<string> {
  const { htmlToText } = await import('./html-to-text.ts');
  return await inSlices(htmlToText(text, url.href), signal);
}

function toToolResult({ type, text }: Fetched): ToolResult {
  return textResult(text, { isError: type === 'bad' });
}
