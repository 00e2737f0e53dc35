import { expect, it } from 'vitest';
import { agent } from '../../suite/conversation.suite.ts';
import { listModels, toConfig } from './to-config.ts';

const model = (id: string) => ({ model: { ...agent().model, id } });

it('[OC18] the configuration has the roster with its prompts, models and permissions, and nothing but its members can be delegated to', () => {
  const worker = agent({ name: 'worker', system: 'You work.', description: 'Works', ...model('opencode/other/small') });
  const config = toConfig({
    agent: agent(model('opencode/scripted/big')),
    members: [worker],
    depthMax: 2,
    baseURL: 'http://127.0.0.1:1/secret',
    mcpUrlOf: (_, url) => url,
    toolsUrl: null,
  });
  expect(config).toMatchObject({
    model: 'scripted/big',
    small_model: 'scripted/big',
    subagent_depth: 2,
    share: 'disabled',
    autoupdate: false,
    agent: {
      'fleetloom-main': { mode: 'primary', permission: { task: { '*': 'deny', worker: 'allow' } } },
      worker: { mode: 'subagent', prompt: 'You work.', description: 'Works', model: 'other/small' },
    },
    provider: {
      scripted: { npm: '@ai-sdk/anthropic', options: { baseURL: 'http://127.0.0.1:1/secret/v1' }, models: { big: {} } },
      other: { models: { small: {} } },
    },
  });
});

it('[OC18] MCP servers are reached where the gateway has them, and custom tools at the address of this server', () => {
  const servers = [{ type: 'url' as const, name: 'files', url: 'https://files.example.com/mcp' }];
  const config = toConfig({
    agent: agent({ mcp_servers: servers }),
    members: [],
    depthMax: 1,
    baseURL: 'http://127.0.0.1:1/secret',
    mcpUrlOf: (name) => `http://127.0.0.1:1/secret/mcp/${name}`,
    toolsUrl: 'http://127.0.0.1:1/secret/tools',
  });
  expect(config['mcp']).toMatchObject({
    files: { type: 'remote', url: 'http://127.0.0.1:1/secret/mcp/files' },
    fleetloom: { type: 'remote', url: 'http://127.0.0.1:1/secret/tools' },
  });
});

it('[OC19] a model is a provider and a name, which may have slashes; without a name it is the default', () => {
  const modelsOf = (...ids: string[]) =>
    listModels(ids.map((id) => agent(model(id)))).map(({ providerID, modelID }) => `${providerID}/${modelID}`);
  expect(modelsOf('opencode/scripted/a/b', 'opencode/c', 'opencode/default', 'claude-code/sonnet')).toEqual([
    'scripted/a/b',
    'scripted/c',
    'scripted/a/b',
    'scripted/sonnet',
  ]);
  expect(modelsOf('opencode/default')).toEqual(['anthropic/claude-sonnet-4-5']);
});
