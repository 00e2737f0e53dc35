import { builtInToolNames, builtInTools } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { hostTools, serverTools } from './registry.ts';

it('[U195] the registry has one entry for each built-in tool of the protocol, in the same order', () => {
  expect([...hostTools, ...serverTools].map(({ name }) => name)).toEqual(builtInToolNames);
});

it('[U195] tools that run in the workspace are tools of the tool host, and all others run in the server', () => {
  expect(hostTools.map(({ name }) => builtInTools[name].runsIn)).toEqual(hostTools.map(() => 'workspace'));
  expect(serverTools.map(({ name }) => builtInTools[name].runsIn)).toEqual(serverTools.map(() => 'server'));
});
