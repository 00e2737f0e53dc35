import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tool } from '@fleetloom/protocol/managed-agents';
import { expect, it, onTestFinished } from 'vitest';
import { agent, toolset } from '../../suite/conversation.suite.ts';
import { copyConversation } from './copy-conversation.ts';
import { toArguments, toConfigFile, toRole } from './to-config.ts';
import { toEnvironment } from './to-environment.ts';
import { toInput } from './to-input.ts';
import { toThreadParams } from './to-thread-params.ts';

it('[CX21] the environment of Codex has its own home and temporary directory, and no secret of the server', () => {
  const inherited = {
    PATH: '/bin',
    LANG: 'C',
    HOME: '/home/user',
    CODEX_HOME: '/home/user/.codex',
    OPENAI_API_KEY: 'secret',
    ANTHROPIC_API_KEY: 'secret',
    HTTPS_PROXY: 'http://proxy',
    MINE: 'passed',
  };
  const own = { type: 'own', path: '/data/home' } as const;
  const sandboxed = toEnvironment({ inherited, passed: ['MINE'], isSandboxed: true, home: own });
  expect(sandboxed).toMatchObject({ CODEX_HOME: '/data/home/.codex', HOME: '/data/home', TMPDIR: '/data/home/tmp' });
  expect(Object.keys(sandboxed)).not.toEqual(expect.arrayContaining(['PATH']));
  const open = toEnvironment({ inherited, passed: ['MINE'], isSandboxed: false, home: { type: 'operator' } });
  expect(open).toMatchObject({ CODEX_HOME: '/home/user/.codex', HOME: '/home/user', PATH: '/bin', MINE: 'passed' });
  for (const env of [sandboxed, open]) expect(Object.values(env)).not.toContain('secret');
});

it('[CX22] the address of the gateway is in a file and not on the command line; without it Codex uses its own endpoint', () => {
  const file = toConfigFile({ baseURL: 'http://127.0.0.1:1/key', retriesMax: 3 });
  expect(file).toContain('base_url = "http://127.0.0.1:1/key/v1"');
  expect(file).toContain('stream_max_retries = 3');
  expect(toConfigFile(null)).not.toContain('model_provider');
  const worker = agent({ name: 'worker', description: 'Works "hard".' });
  const roleFiles = new Map([['worker', '/data/worker.toml']]);
  const args = toArguments({ agent: agent(), members: [worker], depthMax: 2, roleFiles });
  expect(args).toEqual([
    'app-server',
    '-c',
    'agents.max_depth=2',
    '-c',
    'project_doc_max_bytes=0',
    '-c',
    'agents.worker.description="Works \\"hard\\"."',
    '-c',
    'agents.worker.config_file="/data/worker.toml"',
  ]);
});

it('[CX22] agents of the roster are roles with their own instructions and model; a web search that is asked for is turned off', () => {
  const model = { id: 'codex/gpt-5.5', effort: { type: 'high' }, speed: 'standard' } as const;
  expect(toRole(agent({ name: 'worker', system: 'Line\n"two"', model }))).toEqual({
    name: 'codex-role-worker.toml',
    content: 'developer_instructions = "Line\\n\\"two\\""\nmodel = "gpt-5.5"\n',
  });
  expect(toRole(agent({ name: 'no key' }))).toBe(null);
  const asking = agent({ tools: [toolset('always_ask')] });
  const args = toArguments({ agent: asking, members: [], depthMax: 1, roleFiles: new Map() });
  expect(args).toContain('web_search="disabled"');
  const project = toArguments({ agent: asking, members: [], depthMax: 1, settings: 'project', roleFiles: new Map() });
  expect(project).not.toContain('project_doc_max_bytes=0');
});

it('[CX23] Codex asks for every call as soon as one agent of the session has a call that is asked for or denied, and never otherwise', () => {
  const server = { type: 'url', name: 'docs', url: 'https://example.com/mcp' } as const;
  const mcp = (type: 'always_allow' | 'always_ask'): Tool => ({
    type: 'mcp_toolset',
    mcp_server_name: 'docs',
    default_config: { enabled: true, permission_policy: { type } },
    configs: [],
  });
  const policy = (main: ReturnType<typeof agent>, member = agent(), mode: 'default' | 'deny' = 'default') => {
    const common = { directory: '/repo', model: null, mcpServers: [], toolsUrl: null };
    const params = toThreadParams({ ...common, agent: main, members: [member], mode });
    return (params as { approvalPolicy: string }).approvalPolicy;
  };
  expect(policy(agent())).toBe('never');
  expect(policy(agent({ tools: [toolset('always_ask')] }))).toBe('untrusted');
  expect(policy(agent(), agent({ tools: [] }))).toBe('untrusted');
  expect(policy(agent(), agent(), 'deny')).toBe('untrusted');
  const withServer = (tool: Tool) => agent({ tools: [toolset('always_allow'), tool], mcp_servers: [server] });
  expect([policy(withServer(mcp('always_allow'))), policy(withServer(mcp('always_ask')))]).toEqual([
    'never',
    'untrusted',
  ]);
});

it('[CX23] custom tools and MCP servers are servers of the thread, and Codex asks for each call of the latter where it asks at all', () => {
  const toParams = (tools: readonly Tool[]) =>
    toThreadParams({
      directory: '/repo',
      agent: agent({ system: 'You lead.', tools }),
      members: [],
      model: 'gpt-5.5',
      mode: 'default',
      mcpServers: [{ name: 'docs', url: 'http://127.0.0.1/mcp/0' }],
      toolsUrl: 'http://127.0.0.1/tools',
    });
  expect(toParams([toolset('always_allow')])).toMatchObject({
    config: { mcp_servers: { docs: { default_tools_approval_mode: 'approve' } } },
  });
  expect(toParams([toolset('always_ask')])).toMatchObject({
    cwd: '/repo',
    model: 'gpt-5.5',
    developerInstructions: 'You lead.',
    approvalsReviewer: 'user',
    config: {
      mcp_servers: {
        docs: { url: 'http://127.0.0.1/mcp/0', default_tools_approval_mode: 'prompt' },
        fleetloom: { url: 'http://127.0.0.1/tools', default_tools_approval_mode: 'approve' },
      },
    },
  });
});

it('[CX24] images are passed on, texts of documents are read, and a document that Codex cannot read is named', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } } as const;
  const linked = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } } as const;
  const plain = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Read me.' } } as const;
  const other = { type: 'document', title: 'a.pdf', source: { type: 'file', file_id: 'file_1' } } as const;
  expect(toInput([{ type: 'text', text: 'Hi' }, image, linked, plain, other])).toEqual([
    { type: 'text', text: 'Hi', text_elements: [] },
    { type: 'image', url: 'data:image/png;base64,AAAA' },
    { type: 'image', url: 'https://example.com/a.png' },
    { type: 'text', text: 'Read me.', text_elements: [] },
    { type: 'text', text: '[A document that this program cannot read: a.pdf]', text_elements: [] },
  ]);
});

it('[CX25] a conversation is copied to the home of a fork if it has the turn, in whole lines, and links of agents are not followed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-rollouts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  const day = join('sessions', '2026', '11', '18');
  mkdirSync(join(from, day), { recursive: true });
  const name = 'rollout-2026-11-18T10-00-00-thread-1.jsonl';
  writeFileSync(join(from, day, name), '{"turn_id":"turn-1"}\n{"half":');
  const copy = (conversation: string, turnId: string) => copyConversation({ conversation, turnId, from, to });
  expect(await copy('thread-1', 'turn-1')).toBe(true);
  expect(readFileSync(join(to, day, name), 'utf8')).toBe('{"turn_id":"turn-1"}\n');
  expect([await copy('thread-1', 'turn-2'), await copy('thread-2', 'turn-1'), await copy('../x', 'turn-1')]).toEqual([
    false,
    false,
    false,
  ]);
  writeFileSync(join(folder, 'elsewhere'), '{"turn_id":"turn-1"}\n');
  symlinkSync(join(folder, 'elsewhere'), join(from, day, 'rollout-2026-11-18T10-00-00-thread-3.jsonl'));
  expect(await copy('thread-3', 'turn-1')).toBe(false);
});
