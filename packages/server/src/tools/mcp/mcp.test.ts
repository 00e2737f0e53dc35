import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { baseLimits } from '../../base/limits.ts';
import { toolLimits } from '../limits.ts';
import type { ToolResult } from '../tool.ts';
import type { OfferedTool, Toolbox, ToolOffer } from '../toolbox.ts';
import type { ToolboxOptions } from '../registry/create-toolbox.ts';
import { type Bench, call, openBench as openPublicBench, type RunOptions } from '../toolbox.suite.ts';
import { ConnectionSlots } from './connection-slots.ts';
import { say, serveMcp } from './mcp-server.suite.ts';

describe.each(['old', 'new'] as const)('a server of the %s kind', (kind) => {
  it('[U70] its tools are offered by the names mcp__server__tool, from all pages, and called by their own', async () => {
    const server = await serveMcp({
      kind,
      pages: [
        ['echo', 'a.b/c'],
        ['a_b_c', 'last'],
      ],
    });
    const bench = openBench();
    const { tools, problems } = await offer(bench.toolbox, server.url);
    expect(problems).toEqual([]);
    expect([...tools.keys()]).toEqual(['mcp__docs__echo', 'mcp__docs__a_b_c', 'mcp__docs__a_b_c_2', 'mcp__docs__last']);
    expect(tools.get('mcp__docs__a_b_c')).toMatchObject({
      kind: 'mcp',
      name: 'a.b/c',
      serverName: 'docs',
      isEnabled: true,
      permission: 'ask',
      description: 'Does a.b/c',
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string' } },
      },
    });
    expect(await run(bench, tools, 'mcp__docs__a_b_c', { text: 'hi' })).toEqual({
      content: [{ type: 'text', text: 'ran a.b/c' }],
      isError: false,
    });
    expect(server.calls).toEqual([{ name: 'a.b/c', input: { text: 'hi' } }]);
  });

  it('[U71] one connection serves all offers and calls, and the list is asked for once', async () => {
    const server = await serveMcp({ kind });
    const bench = openBench();
    const offers = await Promise.all([offer(bench.toolbox, server.url), offer(bench.toolbox, server.url)]);
    await Promise.all(offers.map(({ tools }) => run(bench, tools, 'mcp__docs__echo', {})));
    await offer(bench.toolbox, server.url);
    expect(server.methods.filter((method) => method === 'tools/list')).toEqual(['tools/list']);
    expect(server.methods.filter((method) => method === 'tools/call').length).toBe(2);
  });

  it('[U72] an error that a tool gives, or a refusal of the server, is an error with its words', async () => {
    const server = await serveMcp({
      kind,
      answer: async (_name, input) => {
        if (JSON.stringify(input) === '{}') throw new Error('this is not how it works');
        return say('it is broken', true);
      },
    });
    const bench = openBench();
    const { tools } = await offer(bench.toolbox, server.url);
    expect(await run(bench, tools, 'mcp__docs__echo', { text: 'x' })).toEqual({
      content: [{ type: 'text', text: 'it is broken' }],
      isError: true,
    });
    const refused = await run(bench, tools, 'mcp__docs__echo', {});
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toContain('this is not how it works');
  });

  it('[U73] an interrupt ends a call, and the server is notified', async () => {
    let isStopped = false;
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const server = await serveMcp({
      kind,
      answer: async (_name, _input, signal) => {
        signal.addEventListener('abort', () => {
          isStopped = true;
        });
        begin();
        return await new Promise(() => {});
      },
    });
    const bench = openBench();
    const { tools } = await offer(bench.toolbox, server.url);
    const stop = new AbortController();
    const running = run(bench, tools, 'mcp__docs__echo', {}, { signal: stop.signal });
    await begun;
    stop.abort();
    expect(await running).toEqual({
      content: [{ type: 'text', text: 'echo: interrupted before it was done' }],
      isError: true,
    });
    await until(() => isStopped);
  });

  it('[U74] a call that takes too long is given up', async () => {
    const server = await serveMcp({ kind, answer: async () => await new Promise(() => {}) });
    const bench = openBench({ limits: { mcpCallMs: 100 } });
    const { tools } = await offer(bench.toolbox, server.url);
    const late = await run(bench, tools, 'mcp__docs__echo', {});
    expect(late.isError).toBe(true);
    expect(JSON.stringify(late.content)).toContain('timed out');
    // Once: it is not known whether the call took effect.
    expect(server.calls.length).toBe(1);
    expect(toolLimits.mcpCallMs).toBe(300_000);
  });

  it('[U75] a server that was started again is connected to again, and the call is sent once', async () => {
    const first = await serveMcp({ kind });
    const bench = openBench();
    const { tools } = await offer(bench.toolbox, first.url);
    await run(bench, tools, 'mcp__docs__echo', {});
    await first.stop();
    const second = await serveMcp({ kind, port: first.port });
    expect((await run(bench, tools, 'mcp__docs__echo', { text: 'again' })).isError).toBe(false);
    expect(second.calls).toEqual([{ name: 'echo', input: { text: 'again' } }]);
  });

  it('[U75] while a server is down calls are errors, and then work again', async () => {
    const first = await serveMcp({ kind });
    const bench = openBench();
    const { tools } = await offer(bench.toolbox, first.url);
    await first.stop();
    const down = await run(bench, tools, 'mcp__docs__echo', {});
    expect(down.isError).toBe(true);
    expect(JSON.stringify(down.content)).toContain('cannot be reached');
    await serveMcp({ kind, port: first.port });
    expect((await run(bench, tools, 'mcp__docs__echo', {})).isError).toBe(false);
  });

  it('[U76] a connection that breaks in the middle of a call is not tried again', async () => {
    const server = await serveMcp({
      kind,
      answer: async () => {
        setTimeout(() => void server.stop(), 20);
        return await new Promise(() => {});
      },
    });
    const bench = openBench({ limits: { mcpResumeMs: 200 } });
    expect(toolLimits.mcpResumeMs).toBe(10_000);
    const { tools } = await offer(bench.toolbox, server.url);
    const broken = await run(bench, tools, 'mcp__docs__echo', {});
    expect(broken.isError).toBe(true);
    expect(JSON.stringify(broken.content)).toContain('It is not known whether the call took effect');
    expect(server.calls.length).toBe(1);
  });

  it('[U76] a call whose answer breaks off does not disturb those of others', async () => {
    let go = (): void => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const answer = async (name: string): Promise<ReturnType<typeof say>> => {
      if (name === 'slow') await gone;
      return say(`ran ${name}`);
    };
    const server = await serveMcp({ kind, pages: [['slow', 'broken', 'quick']], breaking: 'broken', answer });
    const bench = openBench({ limits: { mcpResumeMs: 50 } });
    const { tools } = await offer(bench.toolbox, server.url);
    const slow = run(bench, tools, 'mcp__docs__slow', {});
    await until(() => server.calls.length === 1);
    expect((await run(bench, tools, 'mcp__docs__broken', {})).isError).toBe(true);
    expect((await run(bench, tools, 'mcp__docs__quick', {})).isError).toBe(false);
    go();
    expect(await slow).toEqual({ content: [{ type: 'text', text: 'ran slow' }], isError: false });
    expect(server.calls.map(({ name }) => name)).toEqual(['slow', 'quick']);
  });

  it('[U77] a server that is not there is a problem, the rest is offered, and it heals after a pause', async () => {
    const clock = createManualClock();
    const { toolbox } = openBench({ clock });
    const gone = await serveMcp({ kind });
    await gone.stop();
    const { tools, problems } = await offer(toolbox, gone.url, {}, [{ type: 'custom', name: 'mine' }]);
    expect([...tools.keys()]).toEqual(['mine']);
    expect(problems).toEqual([
      { type: 'mcp_connection_failed', serverName: 'docs', message: expect.stringContaining('ECONNREFUSED') },
    ]);
    const back = await serveMcp({ kind, port: gone.port });
    clock.advance(toolLimits.mcpRetryMs - 1);
    expect((await offer(toolbox, back.url)).problems).toEqual(problems);
    expect(back.methods).toEqual([]);
    clock.advance(1);
    const healed = await offer(toolbox, back.url);
    expect([[...healed.tools.keys()], healed.problems]).toEqual([['mcp__docs__echo'], []]);
    expect(toolLimits.mcpRetryMs).toBe(5_000);
  });

  it.each([401, 403])('[U78] a server that answers %i is a problem of authentication', async (status) => {
    const isIn = (authorization: string | undefined): boolean => authorization === 'Bearer right';
    const server = await serveMcp({ kind, guard: ({ headers }) => (isIn(headers.authorization) ? 200 : status) });
    const { tools, problems } = await offer(openBench().toolbox, server.url);
    expect(tools.size).toBe(0);
    expect(problems).toEqual([
      {
        type: 'mcp_authentication_failed',
        serverName: 'docs',
        message: expect.stringMatching(/rejects the request: .*Store a token/),
      },
    ]);
    const named: string[] = [];
    const mcpHeaders = async ({ name, url }: { name: string; url: string }): Promise<Record<string, string>> => {
      named.push(name, url);
      return { authorization: 'Bearer right' };
    };
    expect((await offer(openBench({ mcpHeaders }).toolbox, server.url)).problems).toEqual([]);
    expect(named).toEqual(['docs', server.url]);
  });

  it('[U79] a server that does not answer is given up after a while', async () => {
    const server = await serveMcp({ kind, guard: () => 200 });
    const silent = await serveSilence();
    const { toolbox } = openBench({ limits: { mcpConnectMs: 200 } });
    const { problems } = await offer(toolbox, silent.url);
    expect(problems.map(({ type }) => type)).toEqual(['mcp_connection_failed']);
    expect((await offer(toolbox, server.url)).problems).toEqual([]);
    expect(toolLimits.mcpConnectMs).toBe(10_000);
    silent.close();
  });

  it('[U71] tools that change are listed again', async () => {
    const server = await serveMcp({ kind, pages: [['one']] });
    const { toolbox } = openBench();
    expect([...(await offer(toolbox, server.url)).tools.keys()]).toEqual(['mcp__docs__one']);
    if (kind === 'old') await until(() => server.methods.includes('notifications/initialized'));
    await wait(100);
    await server.setPages([['two']]);
    let names: string[] = [];
    for (let tries = 0; tries < 100 && names[0] !== 'mcp__docs__two'; tries++) {
      await wait(20);
      names = [...(await offer(toolbox, server.url)).tools.keys()];
    }
    expect(names).toEqual(['mcp__docs__two']);
  });

  it('[U80] closing lets go of the server, and nothing connects afterwards', async () => {
    const server = await serveMcp({ kind });
    const bench = openBench();
    const { tools } = await offer(bench.toolbox, server.url);
    await bench.toolbox.close();
    const before = server.methods.length;
    expect((await run(bench, tools, 'mcp__docs__echo', {})).isError).toBe(true);
    expect(server.methods.length).toBe(before);
  });
});

describe('a toolset of a server', () => {
  it('[U81] needs approval by default; default_config and the entry of a tool override it, in this order', async () => {
    const server = await serveMcp({ pages: [['one', 'two', 'three']] });
    const { toolbox } = openBench();
    const said = async (toolset: JsonObject): Promise<unknown> => {
      const { tools } = await offer(toolbox, server.url, toolset);
      return [...tools.values()].map((tool) => `${tool.isEnabled} ${tool.kind === 'mcp' ? tool.permission : ''}`);
    };
    expect(await said({})).toEqual(['true ask', 'true ask', 'true ask']);
    const configs = [
      { name: 'one', enabled: true },
      { name: 'two', permission_policy: { type: 'always_ask' } },
      { name: 'none', enabled: true },
    ];
    const default_config = { enabled: false, permission_policy: { type: 'always_allow' } };
    expect(await said({ default_config, configs })).toEqual(['true allow', 'false ask', 'false allow']);
  });

  it('[U77] a server that is not in mcp_servers is a problem', async () => {
    const { toolbox } = openBench();
    const tools = [{ type: 'mcp_toolset', mcp_server_name: 'other' }];
    expect(await toolbox.offer({ tools, mcp_servers: [{ type: 'url', name: 'docs', url: 'http://x' }] })).toEqual({
      tools: new Map(),
      problems: [
        { type: 'mcp_connection_failed', serverName: 'other', message: expect.stringContaining('mcp_servers') },
      ],
    });
  });

  it('[U169] all sessions have at most 1,000 connections, and one that is closed makes room', async () => {
    const server = await serveMcp();
    const options = { limits: { mcpConnectionsMax: 1 }, mcpSlots: new ConnectionSlots() };
    const [first, second] = [openBench(options), openBench(options)];
    expect((await offer(first.toolbox, server.url)).problems).toEqual([]);
    const [problem] = (await offer(second.toolbox, server.url)).problems;
    expect(problem?.message).toContain('all 1 MCP connections of this server are in use');
    await first.toolbox.close();
    expect((await offer(openBench(options).toolbox, server.url)).problems).toEqual([]);
    expect(toolLimits.mcpConnectionsMax).toBe(1_000);
  });

  it('[U70] long names are cut, and stay apart', async () => {
    const long = 'x'.repeat(200);
    const server = await serveMcp({ pages: [[`${long}1`, `${long}2`]] });
    const names = [...(await offer(openBench().toolbox, server.url)).tools.keys()];
    expect(names.map(({ length }) => length)).toEqual([128, 128]);
    expect(names[1]?.endsWith('x_2')).toBe(true);
    expect(baseLimits.toolNameCharsMax).toBe(128);
  });

  it('[U84] tools of two servers whose names look the same to a model are both offered, each run at its own', async () => {
    const [one, two] = [await serveMcp({ pages: [['find', 'only']] }), await serveMcp({ pages: [['find', 'only']] })];
    const bench = openBench();
    const servers = [one, two].map(({ url }, at) => ({ type: 'url', name: ['my.docs', 'my docs'][at]!, url }));
    const tools = servers.map(({ name }) => ({ type: 'mcp_toolset', mcp_server_name: name }));
    // The same toolset twice is still the same tools.
    const offered = await bench.toolbox.offer({ tools: [...tools, tools[0]!], mcp_servers: servers });
    expect([...offered.tools.keys()]).toEqual([
      'mcp__my_docs__find',
      'mcp__my_docs__only',
      'mcp__my_docs__find_2',
      'mcp__my_docs__only_2',
    ]);
    await run(bench, offered.tools, 'mcp__my_docs__find_2', {});
    expect([one.calls, two.calls]).toEqual([[], [{ name: 'find', input: {} }]]);
  });

  it('[U70] at most 1,000 tools of a server are offered', async () => {
    const server = await serveMcp({
      pages: [
        ['a', 'b'],
        ['c', 'd'],
      ],
    });
    const names = [...(await offer(openBench({ limits: { mcpToolsMax: 3 } }).toolbox, server.url)).tools.keys()];
    expect(names).toEqual(['mcp__docs__a', 'mcp__docs__b', 'mcp__docs__c']);
    expect([toolLimits.mcpToolsMax, toolLimits.mcpListPagesMax]).toEqual([1_000, 64]);
    const endless = await offer(openBench({ limits: { mcpListPagesMax: 1 } }).toolbox, server.url);
    expect(endless.problems.map(({ type }) => type)).toEqual(['mcp_connection_failed']);
  });
});

describe('what a server answers', () => {
  it('[P80] needs no workspace, unless it is too long for a model', async () => {
    const server = await serveMcp({
      kind: 'new',
      answer: async (_name, input) => say((input as { text: string }).text),
    });
    const { toolbox, workspace } = openBench({ limits: { toolTextCharsMax: 100 } });
    const tool = (await offer(toolbox, server.url)).tools.get('mcp__docs__echo');
    if (tool?.kind !== 'mcp') throw new Error('it is not offered');
    let opened = 0;
    const openWorkspace = async () => ((opened += 1), workspace);
    const context = { sessionId: 'sesn_1', threadId: 'sthr_1', openWorkspace, signal: new AbortController().signal };
    await tool.run({ text: 'x'.repeat(100) }, context);
    expect(opened).toBe(0);
    const { content } = await tool.run({ text: 'x'.repeat(101) }, context);
    expect(JSON.stringify(content)).toContain('.fleetloom/outputs/echo-');
    expect(opened).toBe(1);
  });

  it('[U83] may have 6 MiB; a longer answer is broken off', async () => {
    let chars = 0;
    const server = await serveMcp({ answer: async () => say('x'.repeat(chars)) });
    const bench = openBench({ limits: { mcpAnswerBytesMax: 20_000, mcpResumeMs: 50 } });
    const { tools } = await offer(bench.toolbox, server.url);
    chars = 19_000;
    expect((await run(bench, tools, 'mcp__docs__echo', {})).isError).toBe(false);
    chars = 20_000;
    const long = await run(bench, tools, 'mcp__docs__echo', {});
    expect(long.isError).toBe(true);
    expect(JSON.stringify(long.content)).toContain('the answer has more than 20000 bytes');
    chars = 1;
    expect((await run(bench, tools, 'mcp__docs__echo', {})).isError).toBe(false);
    expect(toolLimits.mcpAnswerBytesMax).toBe(6_291_456);
  });

  it('[U82] becomes blocks of the Messages API, or a description of what cannot be shown', async () => {
    const data = 'iVBORw0KGgo=';
    const server = await serveMcp({
      answer: async () => ({
        content: [
          { type: 'text', text: 'words' },
          { type: 'image', mimeType: 'image/png', data },
          { type: 'image', mimeType: 'image/tiff', data },
          { type: 'audio', mimeType: 'audio/wav', data },
          { type: 'resource_link', uri: 'file:///a', name: 'A' },
          { type: 'resource', resource: { uri: 'file:///b', text: 'content' } },
          { type: 'resource', resource: { uri: 'file:///c', mimeType: 'application/pdf', blob: data } },
          { type: 'resource', resource: { uri: 'file:///d', mimeType: 'application/zip', blob: data } },
        ],
      }),
    });
    const bench = openBench();
    const { tools } = await offer(bench.toolbox, server.url);
    const { content } = await run(bench, tools, 'mcp__docs__echo', {});
    expect(content).toEqual([
      { type: 'text', text: 'words' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
      { type: 'text', text: '(a file of type image/tiff, which cannot be shown)' },
      { type: 'text', text: '(audio of type audio/wav, which cannot be shown)' },
      { type: 'text', text: 'A: file:///a' },
      { type: 'text', text: 'file:///b\n\ncontent' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } },
      { type: 'text', text: '(file:///d of type application/zip, which cannot be shown)' },
    ]);
  });

  it('[U82] structured content that is nowhere else is shown as JSON, and nothing as no output', async () => {
    let structured: JsonObject | undefined = { answer: 42 };
    const server = await serveMcp({
      answer: async () => ({ content: [], ...(structured && { structuredContent: structured }) }),
    });
    const bench = openBench();
    const { tools } = await offer(bench.toolbox, server.url);
    expect((await run(bench, tools, 'mcp__docs__echo', {})).content).toEqual([{ type: 'text', text: '{"answer":42}' }]);
    structured = undefined;
    expect((await run(bench, tools, 'mcp__docs__echo', {})).content).toEqual([{ type: 'text', text: '(no output)' }]);
  });
});

/** The servers of these tests are on this machine. */
function openBench(options: ToolboxOptions = {}): Bench {
  return openPublicBench({ allowedPrivateHosts: ['127.0.0.1'], ...options });
}

async function offer(
  toolbox: Toolbox,
  url: string,
  toolset: JsonObject = {},
  others: readonly JsonObject[] = [],
): Promise<ToolOffer> {
  const tools = [{ type: 'mcp_toolset', mcp_server_name: 'docs', ...toolset }, ...others];
  return await toolbox.offer({ tools, mcp_servers: [{ type: 'url', name: 'docs', url }] });
}

async function run(
  { workspace }: Bench,
  tools: ReadonlyMap<string, OfferedTool>,
  name: string,
  input: JsonObject,
  options: RunOptions = {},
): Promise<ToolResult> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`${name} is not offered`);
  return await call(tool, input, { workspace, ...options });
}

/** Takes connections and says nothing. */
async function serveSilence(): Promise<{ url: string; close(): void }> {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has such an address.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300 && !condition(); tries++) await wait(10);
  expect(condition()).toBe(true);
}
