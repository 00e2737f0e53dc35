import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToolbox } from '../../packages/server/src/tools/registry/create-toolbox.ts';
import { expectHarmless } from '../support/expect-harmless.ts';
import { type HostileServer, startHostileServer } from '../support/hostile-server.ts';

// Hostile pages for web_fetch.

let server: HostileServer;
let workspace = '';
const fetched = new Set<string>();

beforeAll(async () => {
  workspace = mkdtempSync(join(tmpdir(), 'fleetloom-foreign-'));
  server = await startHostileServer();
  await fetchPage('fine');
  await fetchPage('open-tags');
});

afterAll(async () => {
  await server.close();
  rmSync(workspace, { recursive: true, force: true });
});

describe('pages of more than ten megabytes', () => {
  it.each([
    'open-tags',
    'open-tags-closed',
    'comments',
    'short-comments',
    'nested',
    'nested-pre',
    'entities',
    'number-entities',
    'broken-entities',
    'ampersands',
    'attributes',
    'one-tag',
    'one-attribute',
    'one-name',
    'one-word',
    'spaces',
    'lines',
    'pre-spaces',
    'scripts',
    'script-ends',
    'less-than',
    'closes',
    'declarations',
    'latin1',
    'big5',
    'broken-utf8',
    'utf-16',
    'json',
    'endless',
    'gzip',
  ])('[U180] %s does not hold the event loop', async (name) => {
    // Ten megabytes of text are twice that in memory, more than once on the way.
    const text = await expectHarmless(name, async () => await fetchPage(name), { grownMibMax: 256 });
    expect(text).toMatch(/the page has more than 10485760 bytes|It was written to \.fleetloom\/outputs/);
    await expect.poll(() => server.connections(), { interval: 5 }).toBe(0);
  });
});

describe('pages that do not come', () => {
  it.each([
    ['drip', 'the page did not come within 600 ms'],
    ['headers', 'HPE_HEADER_OVERFLOW'],
    ['redirect-loop', 'the page redirects more than 5 times'],
  ])('[U180] %s: %s', async (name, reason) => {
    expect(await expectHarmless(name, async () => await fetchPage(name))).toContain(reason);
    await expect.poll(() => server.connections(), { interval: 5 }).toBe(0);
  });

  it('[U181] a page in chunks of one byte takes no more memory than its bytes, and does not hold the event loop', async () => {
    const options = { grownMibMax: 64, stallMsMax: 100 };
    const text = await expectHarmless('single-bytes', async () => await fetchPage('single-bytes'), options);
    expect(text).toMatch(/did not come within 600 ms|more than 10485760 bytes/);
  });
});

it('[U180] every kind of page was fetched', () => {
  expect([...fetched].toSorted()).toEqual([...server.names.page].toSorted());
});

async function fetchPage(name: string): Promise<string> {
  fetched.add(name);
  // Only what is slow on purpose has to be given up soon.
  const isSlow = name === 'drip' || name === 'single-bytes';
  const limits = { webFetchTimeoutMs: isSlow ? 600 : 30_000 };
  const toolbox = createToolbox({ allowedPrivateHosts: ['127.0.0.1'], limits });
  const { tools } = await toolbox.offer({ tools: [{ type: 'agent_toolset_20260401' }], mcp_servers: [] });
  const tool = tools.get('web_fetch');
  if (tool?.kind !== 'builtin') throw new Error('web_fetch is not offered');
  const { signal } = new AbortController();
  const context = { sessionId: 'sesn_1', threadId: 'sthr_1', openWorkspace: async () => workspace, signal };
  const { content } = await tool.run({ url: server.url('page', name) }, context);
  await toolbox.close();
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}
