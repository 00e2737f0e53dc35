import { afterEach, expect, it } from 'vitest';
import { viewLimits } from './limits.ts';
import { createShownUrls } from './shown-urls.ts';

type Payload = Readonly<Record<string, unknown>>;

const frames: { seq: number; type: string; payload: Payload }[] = [];

afterEach(() => void frames.splice(0));

/** A log as far as it is read. */
const store = {
  read: async ({ after }: { after: number }) =>
    frames
      .filter(({ seq }) => seq > after)
      .slice(0, 100)
      .map((frame) => ({ kind: 'frame' as const, seq: frame.seq, lastSeq: frame.seq, value: frame })),
};

function add(type: string, payload: Payload): void {
  frames.push({ seq: frames.length + 1, type, payload });
}

function text(words: string): object[] {
  return [{ type: 'text', text: words }];
}

async function shownBy(read: ReturnType<typeof createShownUrls>): Promise<string[]> {
  return [...(await read())].map(({ url, source, tool }) => [source, tool, url].filter(Boolean).join(' '));
}

it('[W53] addresses are found in text of users and tools, each once, and later ones with the next call', async () => {
  // The log above has what is read of it; the rest of a store is not asked for.
  const read = createShownUrls(store as never, 'sesn_1');
  add('user.message', { content: text('See https://a.example/x), then <http://b.example>. Not ftp://c.example') });
  add('agent.message', { content: text('https://made.up/') });
  add('agent.thread_message_received', { content: text('https://made.up/too') });
  expect(await shownBy(read)).toEqual([
    'user_input https://a.example/x),',
    'user_input https://a.example/x',
    'user_input http://b.example/',
  ]);
  add('agent.custom_tool_use', { id: 'sevt_1', name: 'lookup' });
  add('user.custom_tool_result', { custom_tool_use_id: 'sevt_1', content: text('https://client.example/#top') });
  add('agent.tool_use', { id: 'sevt_2', name: 'web_fetch' });
  add('agent.tool_result', { tool_use_id: 'sevt_2', is_error: false, content: text('https://server.example/') });
  add('agent.tool_use', { id: 'sevt_3', name: 'web_fetch' });
  add('agent.tool_result', { tool_use_id: 'sevt_3', is_error: true, content: text('https://refused.example/') });
  add('agent.tool_use', { id: 'sevt_4', name: 'bash' });
  add('agent.tool_result', { tool_use_id: 'sevt_4', is_error: false, content: text('https://bash.example/') });
  // Two at once read no frame twice.
  const [first, second] = await Promise.all([shownBy(read), shownBy(read)]);
  expect(second).toEqual(first);
  expect(first.slice(3)).toEqual([
    'client_tool_results lookup https://client.example/',
    'server_tool_results web_fetch https://server.example/',
  ]);
});

it('[W53] of more addresses than are remembered the oldest are forgotten', async () => {
  const read = createShownUrls(store as never, 'sesn_1');
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => `https://a.example/${from + at}`).join(' ');
  add('user.message', { content: text(many(0, viewLimits.shownUrlsMax)) });
  expect((await shownBy(read)).length).toBe(viewLimits.shownUrlsMax);
  add('user.message', { content: text(many(0, 1)) });
  add('user.message', { content: text(many(viewLimits.shownUrlsMax, 1)) });
  const kept = await shownBy(read);
  expect(kept.length).toBe(viewLimits.shownUrlsMax);
  expect(kept.slice(-2)).toEqual([
    'user_input https://a.example/0',
    `user_input https://a.example/${viewLimits.shownUrlsMax}`,
  ]);
  expect(kept).not.toContain('user_input https://a.example/1');
});

it.each([
  ['one address that ends with a million dots and a letter', `https://a.example/${'.'.repeat(1_000_000)}x`, 0],
  ['one that would fit, of dots', `https://a.example/${'.'.repeat(1_900)}x`, 1],
  ['a million addresses', 'https://a.example/ '.repeat(1_000_000), 1],
  ['beginnings', 'https://'.repeat(1_000_000), 0],
])('[D16] %s takes no longer than its length', async (_, words, count) => {
  const read = createShownUrls(store as never, 'sesn_1');
  add('user.message', { content: text(words) });
  const start = process.cpuUsage();
  expect(await shownBy(read)).toHaveLength(count);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1e6).toBeLessThan(2);
});
