import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseLimits } from '../../packages/server/src/base/limits.ts';
import { toolLimits } from '../../packages/server/src/tools/limits.ts';
import { createToolbox, type ToolboxOptions } from '../../packages/server/src/tools/registry/create-toolbox.ts';
import type { OfferedTool, Toolbox } from '../../packages/server/src/tools/toolbox.ts';
import { expectHarmless } from '../support/expect-harmless.ts';
import { type HostileServer, startHostileServer } from '../support/hostile-server.ts';

// Hostile MCP servers. Each case also checks the event loop, the memory and open connections.

let server: HostileServer;
let workspace = '';
const visited = new Set<string>();

beforeAll(async () => {
  workspace = mkdtempSync(join(tmpdir(), 'fleetloom-foreign-'));
  server = await startHostileServer();
  // What is loaded with the first connection is not the server's doing.
  for (let round = 0; round < 3; round++) await ask('fine', {});
  visited.add('fine');
});

afterAll(async () => {
  await server.close();
  rmSync(workspace, { recursive: true, force: true });
});

describe('answers', () => {
  it.each([
    ['call-endless-json', 'the answer has more than 6291456 bytes'],
    ['call-endless-line', 'the answer has more than 6291456 bytes'],
    ['call-100mb', 'the answer has more than 6291456 bytes'],
    ['call-top-fields', 'a message has more than 1000 fields'],
    ['call-deep', 'a message has more than 100 levels'],
    ['call-brackets', 'its answer is a list of messages, not one'],
    ['call-objects', 'its answer is a list of messages, not one'],
    ['call-batch', 'its answer is a list of messages, not one'],
    ['call-progress', 'the answer has more than 50000 values'],
    ['init-endless', 'the answer has more than 262144 bytes'],
    ['init-icons', 'the answer has more than 1000 values'],
    ['discover-endless', 'the answer has more than 262144 bytes'],
    ['list-endless-refusal', 'the answer has more than 65536 bytes'],
  ])('[U162, U170] %s: %s', async (name, reason) => {
    expect(await visit(name)).toContain(reason);
  });

  it('[U162] the limits of answers', () => {
    const { mcpAnswerBytesMax, mcpAnswerValuesMax, mcpDepthMax, mcpMessageFieldsMax, mcpAnswerMessagesMax } =
      toolLimits;
    expect([mcpAnswerBytesMax, mcpAnswerValuesMax, mcpDepthMax]).toEqual([6_291_456, 50_000, 100]);
    expect([mcpMessageFieldsMax, mcpAnswerMessagesMax]).toEqual([1_000, 10_000]);
    const { mcpHandshakeBytesMax, mcpHandshakeValuesMax, mcpErrorBytesMax } = toolLimits;
    expect([mcpHandshakeBytesMax, mcpHandshakeValuesMax, mcpErrorBytesMax]).toEqual([262_144, 1_000, 65_536]);
  });

  it.each([
    ['call-largest', 'The output has 6291256 characters'],
    ['call-largest-wide', 'The output has 3145528 characters'],
    ['call-largest-event', 'The output has 6291256 characters'],
    ['call-largest-escapes', 'The output has 3145528 characters'],
    ['call-largest-image', 'left out: image of 6291056 characters'],
    ['call-many-values', '{"all":[0,0,'],
    ['call-audience', 'x'],
  ])('[U170] %s, as large as is allowed, does not hold the event loop', async (name, said) => {
    expect(await visit(name)).toContain(said);
  });
});

describe('the stream of notifications', () => {
  it.each([
    ['stream-endless-line', 'a notification has more than 1048576 bytes'],
    ['stream-endless-comments', 'the stream of notifications has more than 6000 messages within 60000 ms'],
    ['stream-returns', 'the stream of notifications has more than 6000 messages within 60000 ms'],
    ['stream-changes', 'the stream of notifications has more than 6000 messages within 60000 ms'],
    ['stream-progress', 'the stream of notifications has more than 6000 messages within 60000 ms'],
    ['stream-brackets', 'a message has more than 100 levels'],
    ['stream-long-id', 'the id of an event has more than 1024 bytes'],
  ])('[U163, U170] %s: %s', async (name, reason) => {
    expect(await visit(name, { until: reason })).toContain(reason);
  });

  it.each(['stream-requests', 'stream-reconnects', 'stream-headers'])(
    '[U168, U170] %s does not disturb calls',
    async (name) => {
      expect(await visit(name)).toBe('fine');
    },
  );

  it('[U168, U170] stream-pings: the server is answered, at most 16 times at once', async () => {
    expect(await visit('stream-pings')).toMatch(/^fine$|more than 6000 messages/);
    expect(toolLimits.mcpNoticesMax).toBe(16);
  });
});

describe('lists of tools', () => {
  it.each([
    ['list-huge-pages', 'the answer has more than 4194304 bytes'],
    ['list-endless-pages', 'the list of its tools has more than 64 pages'],
    ['list-many', 'the answer has more than 50000 values'],
    ['list-wide-schema', 'the answer has more than 50000 values'],
    ['list-huge-schema', 'the definition of a tool has more than 262144 bytes'],
    ['list-deep-schema', 'a message has more than 100 levels'],
  ])('[U164, U170] %s: %s', async (name, reason) => {
    expect(await visit(name)).toContain(reason);
    expect([toolLimits.mcpListBytesMax, toolLimits.mcpToolBytesMax]).toEqual([4_194_304, 262_144]);
  });

  it.each([
    'list-object',
    'list-text',
    'list-null',
    'list-nulls',
    'list-nameless',
    'list-number-name',
    'list-text-schema',
    'list-no-schema',
    'list-object-description',
  ])('[U165, U170] %s is an error of its server', async (name) => {
    expect(await visit(name)).toContain('its list of tools does not follow the protocol');
  });

  it('[U165, U170] odd names are names: each tool is offered by one that a model can call', async () => {
    const { toolbox, tools } = await offer('list-odd-names');
    expect([...tools.keys()]).toEqual([
      'mcp__x____proto__',
      'mcp__x__constructor',
      'mcp__x__toString',
      'mcp__x__',
      'mcp__x___',
      'mcp__x________etc_passwd',
      'mcp__x____2J_',
    ]);
    for (const tool of tools.values()) expect(await run(tool)).toBe('fine');
    await toolbox.close();
    expect(await visit('list-odd-names')).toBe('fine');
    expect(await visit('list-same-page')).toBe('fine');
  });

  it('[U70, U170] a thousand tools of one name are kept apart', async () => {
    const { toolbox, tools } = await offer('list-same-names');
    expect(tools.size).toBe(1_000);
    expect([...tools.keys()].at(-1)).toMatch(/^mcp__x__x+_1000$/);
    expect([...tools.keys()].every(({ length }) => length === baseLimits.toolNameCharsMax)).toBe(true);
    await toolbox.close();
    expect(await visit('list-same-names')).toBe('fine');
  });
});

describe('results', () => {
  it.each([
    ['call-blocks', 'the result has more than 1000 blocks'],
    ['call-bad-blocks', 'the result has more than 1000 blocks'],
    ['call-text-error', 'does not follow the protocol'],
    ['call-text-content', 'the result does not follow the protocol'],
    ['call-number-text', 'the result does not follow the protocol'],
    ['call-null', 'its answer does not follow the protocol'],
    ['call-not-json', 'its answer does not follow the protocol'],
    ['call-binary', 'its answer does not follow the protocol'],
    ['call-input-required', 'the server asks for more input, which is not supported'],
    ['call-no-content', '(no output)'],
    ['call-unknown-block', '(content of a kind that cannot be shown)'],
    ['call-bad-image', '(a file of type image/png that is not valid base64)'],
    ['call-other-id', 'xxxx'],
  ])('[U165, U170] %s: %s', async (name, said) => {
    expect(await visit(name)).toContain(said);
    expect(toolLimits.mcpBlocksMax).toBe(1_000);
  });
});

describe('HTTP', () => {
  it.each([
    ['call-headers', 'the headers of the answer are too large'],
    ['call-continue', 'it sent too many interim answers'],
    ['call-status-600', 'it answered with status 600, which does not exist'],
    ['call-no-http', 'its answer is not HTTP'],
    ['call-trailers', 'the connection failed'],
    ['call-extensions', 'the connection failed'],
    ['call-gzip', 'it compressed its answer, although it was asked not to'],
    ['call-redirect-away', 'it answered with status 307'],
    ['call-redirect-loop', 'it answered with status 307'],
    ['list-html', 'its answer does not follow the protocol'],
    ['list-endless-error', 'it answered with status 500'],
  ])('[U171, U170] %s: %s', async (name, reason) => {
    expect(await visit(name)).toContain(reason);
  });
});

describe('servers that do not answer', () => {
  it.each([
    ['call-silence', 'timed out'],
    ['call-drip', 'timed out'],
    ['call-drip-events', 'timed out'],
    ['call-cut', 'the connection failed (ECONNRESET). It is not known whether the call took effect'],
    ['init-silence', 'timed out'],
  ])('[U166, U170] %s: %s, and nothing of it is left open', async (name, reason) => {
    expect(await visit(name, { limits: { mcpConnectMs: 500, mcpCallMs: 500, mcpResumeMs: 50 } })).toContain(reason);
  });

  it('[U166] connecting, with all that belongs to it, and listing have an end of their own', async () => {
    const said = await visit('init-silence', { limits: { mcpSetupMs: 300 } });
    expect(said).toContain('there was no answer within 300 ms');
    expect(toolLimits.mcpSetupMs).toBe(30_000);
  });

  it('[U166] a session that ends while it connects does not wait for the server', async () => {
    const { toolbox, agent } = open('init-silence');
    const offering = toolbox.offer(agent);
    await wait(100);
    const begun = performance.now();
    await toolbox.close();
    await offering;
    expect(performance.now() - begun).toBeLessThan(3_000);
    await expect.poll(() => server.connections()).toBe(0);
  });
});

describe('errors', () => {
  it.each([
    'init-secret',
    'init-version',
    'init-wrong',
    'list-error-body',
    'list-error-words',
    'call-not-json',
    'list-html',
  ])('[U161] %s: the error repeats nothing that the server sent', async (name) => {
    const said = await visit(name);
    expect(said).toMatch(/status \d+|the error -32000|does not follow the protocol/);
    expect(said).not.toMatch(/the secret|<html>/);
  });
});

it('[U170] every kind of hostile server was visited', () => {
  expect([...visited].toSorted()).toEqual([...server.names.mcp].toSorted());
});

interface VisitOptions {
  readonly limits?: ToolboxOptions['limits'];
  /** Asks for the tools again until this is the reason why there are none. */
  readonly until?: string;
}

/** What a session gets from a server: the result of its tool, or why there is none. */
async function visit(name: string, options: VisitOptions = {}): Promise<string> {
  visited.add(name);
  const result = await expectHarmless(name, async () => await ask(name, options));
  await expect.poll(() => server.connections(), { interval: 5 }).toBe(0);
  return result;
}

async function ask(name: string, { limits: changed, until }: VisitOptions): Promise<string> {
  const { toolbox, agent } = open(name, changed);
  try {
    let offered = await toolbox.offer(agent);
    if (name.startsWith('stream-')) await wait(100);
    const triesMax = until === undefined ? 0 : 200;
    for (let tries = 0; tries < triesMax && offered.problems.length === 0; tries++) {
      await wait(20);
      offered = await toolbox.offer(agent);
    }
    const [tool] = offered.tools.values();
    return tool === undefined ? offered.problems.map(({ message }) => message).join('\n') : await run(tool);
  } finally {
    await toolbox.close();
  }
}

async function offer(name: string) {
  const { toolbox, agent } = open(name);
  return { toolbox, ...(await toolbox.offer(agent)) };
}

function open(name: string, changed: ToolboxOptions['limits'] = {}) {
  const allowed = { mcpResumeMs: 100, ...changed };
  const toolbox: Toolbox = createToolbox({ allowedPrivateHosts: ['127.0.0.1'], limits: allowed });
  const tools = [{ type: 'mcp_toolset', mcp_server_name: 'x' }];
  return { toolbox, agent: { tools, mcp_servers: [{ type: 'url', name: 'x', url: server.url('mcp', name) }] } };
}

async function run(tool: OfferedTool): Promise<string> {
  if (tool.kind !== 'mcp') throw new Error(`${tool.name} is not a tool of a server`);
  const { signal } = new AbortController();
  const context = { sessionId: 'sesn_1', threadId: 'sthr_1', openWorkspace: async () => workspace, signal };
  const { content } = await tool.run({}, context);
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');
}
