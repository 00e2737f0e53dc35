import { expect, it } from 'vitest';
import { agent } from '../../suite/conversation.suite.ts';
import { toSettings } from './to-settings.ts';

const allow = { permission_policy: { type: 'always_allow' as const } };
const ask = { permission_policy: { type: 'always_ask' as const } };

it('[J312] with settings of a project, MCP servers with tools that need an approval are asked for, and hooks are off where anything is', () => {
  const server = (name: string) => ({ type: 'url' as const, name, url: `https://${name}.example` });
  const toolset = (name: string, policy: typeof allow | typeof ask, configs: object[] = []) =>
    ({ type: 'mcp_toolset', mcp_server_name: name, default_config: { enabled: true, ...policy }, configs }) as never;
  const builtins = (policy: typeof allow | typeof ask, configs: object[] = []) =>
    ({ type: 'agent_toolset_20260401', default_config: { enabled: true, ...policy }, configs }) as never;
  const free = { ...agent(), mcp_servers: [server('free')], tools: [builtins(allow), toolset('free', allow)] };
  expect(toSettings([free], 'project')).toEqual({ permissions: { allow: ['mcp__fleetloom'], ask: [] } });

  const asked = { ...free, mcp_servers: [server('tick-ets')], tools: [builtins(allow), toolset('tick-ets', ask)] };
  const expected = {
    permissions: { allow: ['mcp__fleetloom'], ask: ['mcp__tick-ets'] },
    disableAllHooks: true,
    ...NO_HELPERS,
  };
  expect(toSettings([asked], 'project')).toEqual(expected);
  const partly = [{ name: 'close', enabled: true, ...ask }];
  expect(toSettings([{ ...asked, tools: [builtins(allow), toolset('tick-ets', allow, partly)] }], 'user')).toEqual(
    expected,
  );
  expect(toSettings([asked], 'none')).toEqual({ permissions: { allow: ['mcp__fleetloom'], ask: [] } });

  // A tool that no agent has is not offered at all, and one that only some have is denied to the others.
  const without = { ...agent(), tools: [builtins(allow, [{ name: 'bash', enabled: false, ...allow }])] };
  expect(toSettings([without], 'project')).not.toHaveProperty('disableAllHooks');
  expect(toSettings([without, free], 'project')).toMatchObject({ disableAllHooks: true, ...NO_HELPERS });
  expect(toSettings([{ ...agent(), tools: [builtins(ask)] }], 'project')).toMatchObject({
    disableAllHooks: true,
    ...NO_HELPERS,
  });
});

/** Commands that a program would run for its own ends. */
const NO_HELPERS = { apiKeyHelper: '', awsAuthRefresh: '', awsCredentialExport: '', otelHeadersHelper: '' };
