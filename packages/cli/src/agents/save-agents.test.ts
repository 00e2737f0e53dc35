import type { Agent } from '@fleetloom/protocol/managed-agents';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { createServerApi } from '../connection/server-api.ts';
import { chooseCoordinator } from './choose-coordinator.ts';
import { parseAgentFile } from './parse-agent-file.ts';
import { saveAgents } from './save-agents.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function save(files: Record<string, string>, named?: string): Promise<Map<string, Agent>> {
  const agents = await Promise.all(Object.entries(files).map(([file, text]) => parseAgentFile(file, text)));
  await saveAgents(createServerApi(server), agents, chooseCoordinator(agents, named), 'scripted/echo');
  const { data } = await server.get<{ data: Agent[] }>('/v1/agents?limit=100');
  return new Map(data.map((agent) => [agent.name, agent]));
}

const FILES = {
  'lead.yaml': 'name: lead\nsystem: Lead.\ncoordinator: true',
  'sub.yaml': 'name: sub',
  'leaf.md': '---\nname: leaf\ndescription: d\ntools: Bash(ls *), Read\n---\nBe a leaf.',
};

describe('saving agents', () => {
  it('[Y11] agents are created with the rosters of their files, whatever the order of the files', async () => {
    const known = await save(FILES);
    const roster = (name: string) => {
      const { multiagent } = known.get(name)!;
      return multiagent?.type === 'coordinator' ? multiagent.agents.map(({ id }) => id) : null;
    };
    expect(known.get('leaf')).toMatchObject({
      description: 'd',
      system: 'Be a leaf.',
      model: { id: 'scripted/echo' },
      multiagent: null,
    });
    expect(roster('sub')).toBe(null);
    expect(roster('lead')).toEqual([known.get('sub')!.id, known.get('leaf')!.id]);
  });

  it('[Y11] doing it again changes nothing', async () => {
    const before = await save(FILES);
    const after = await save(FILES);
    expect(after).toEqual(before);
    expect([...after.values()].map(({ version }) => version)).toEqual([1, 1, 1]);
  });

  it('[Y11] a changed file is a new version of the same agent, and removed fields are cleared', async () => {
    const before = await save(FILES);
    const after = await save({ ...FILES, 'leaf.md': '---\nname: leaf\n---\n' });
    expect(after.get('leaf')).toMatchObject({
      id: before.get('leaf')!.id,
      version: 2,
      description: null,
      system: null,
    });
    expect(after.size).toBe(3);
    const alone = await save({ 'lead.yaml': 'name: lead' });
    expect(alone.get('lead')).toMatchObject({ id: before.get('lead')!.id, multiagent: null, system: null });
  });

  it('[Y12] a roster names who is there', async () => {
    await expect(save({ 'a.yaml': 'name: a\nagents: [ghost]' })).rejects.toMatchObject({
      exitCode: 2,
      message: 'a.yaml lists the agent "ghost", which is not in the directory.',
    });
  });

  it('[Y12] only the chosen coordinator gets its roster, so that several may name each other', async () => {
    const files = { 'a.yaml': 'name: a\nagents: [b]', 'b.yaml': 'name: b\nagents: [a]' };
    for (const [chosen, other] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const known = await save(files, chosen);
      expect(known.get(chosen)?.multiagent).toMatchObject({ agents: [{ id: known.get(other)?.id }] });
      expect(known.get(other)?.multiagent).toBe(null);
    }
  });
});
