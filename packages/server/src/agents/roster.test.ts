import type { MultiagentParams, RosterEntryParams } from '@fleetloom/protocol/managed-agents';
import { describe, expect, it } from 'vitest';
import { agentLimits } from './limits.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import type { Agents } from './agents.ts';
import { model, onEachStore, workspaceId } from './sample.suite.ts';

const self = { type: 'self' } as const;
const disabled = { type: 'disabled' } as const;
const enabled = { type: 'enabled' } as const;

onEachStore((withAgents) => {
  describe('pinning', () => {
    it(
      '[A24] a member is pinned to the version that it has when its coordinator is saved, and stays there',
      withAgents(async ({ agents }) => {
        const [a, b] = [await createMember(agents, 'a'), await createMember(agents, 'b')];
        await agents.update(workspaceId, b, { system: 'v2' });
        const lead = await createLead(agents, [a, { type: 'agent', id: b }]);
        expect(lead.multiagent).toEqual(coordinator([a, 1], [b, 2]));
        await agents.update(workspaceId, a, { system: 'v2' });
        await agents.update(workspaceId, b, { system: 'v3' });
        expect(await agents.get(workspaceId, lead.id)).toEqual(lead);
        const renamed = await agents.update(workspaceId, lead.id, { description: 'new' });
        expect(renamed.multiagent).toEqual(coordinator([a, 1], [b, 2]));
      }),
    );

    it(
      '[A24] saving the same roster again pins the newest versions, and makes a version only if a member has moved',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        const { id } = await createLead(agents, [a]);
        const save = () => agents.update(workspaceId, id, { multiagent: { type: 'coordinator', agents: [a] } });
        expect(await save()).toMatchObject({ version: 1, multiagent: coordinator([a, 1]) });
        await agents.update(workspaceId, a, { system: 'v2' });
        expect(await save()).toMatchObject({ version: 2, multiagent: coordinator([a, 2]) });
        expect((await agents.get(workspaceId, id, 1)).multiagent).toEqual(coordinator([a, 1]));
      }),
    );

    it(
      '[A25] a member that is named with a version is taken at that one',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        await agents.update(workspaceId, a, { system: 'v2' });
        const lead = await createLead(agents, [{ type: 'agent', id: a, version: 1 }]);
        expect(lead.multiagent).toEqual(coordinator([a, 1]));
      }),
    );

    it(
      '[A26] self is the coordinator itself, at the version that is shown',
      withAgents(async ({ agents }) => {
        const lead = await createLead(agents, [self]);
        expect(lead.multiagent).toEqual(coordinator([lead.id, 1]));
        const later = await agents.update(workspaceId, lead.id, { system: 's' });
        expect(later.multiagent).toEqual(coordinator([lead.id, 2]));
        expect((await agents.get(workspaceId, lead.id, 1)).multiagent).toEqual(coordinator([lead.id, 1]));
      }),
    );

    it(
      '[A26] a read roster can be sent back: the own id, alone or at the current version, is self',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        const lead = await createLead(agents, [a, self]);
        const sent = { ...lead.multiagent, type: 'coordinator' } as MultiagentParams;
        expect(await agents.update(workspaceId, lead.id, { multiagent: sent })).toEqual(lead);
        const byId: MultiagentParams = { type: 'coordinator', agents: [a, lead.id] };
        expect(await agents.update(workspaceId, lead.id, { multiagent: byId })).toEqual(lead);
        const unversioned: MultiagentParams = { type: 'coordinator', agents: [a, { type: 'agent', id: lead.id }] };
        expect(await agents.update(workspaceId, lead.id, { multiagent: unversioned })).toEqual(lead);
      }),
    );

    it(
      '[A26] an older version of the coordinator is a member like any other',
      withAgents(async ({ agents }) => {
        const id = await createMember(agents, 'lead');
        await agents.update(workspaceId, id, { system: 'v2' });
        const older: MultiagentParams = { type: 'coordinator', agents: [{ type: 'agent', id, version: 1 }] };
        const lead = await agents.update(workspaceId, id, { multiagent: older });
        expect([lead.version, lead.multiagent]).toEqual([3, coordinator([id, 1])]);
        const stale: MultiagentParams = { type: 'coordinator', agents: [{ type: 'agent', id, version: 3 }] };
        await agents.update(workspaceId, id, { system: 'v4' });
        expect(await codeOf(agents.update(workspaceId, id, { multiagent: stale }))).toBe('roster_member_delegates');
      }),
    );
  });

  describe('refusing', () => {
    it(
      '[A27] a member that does not exist, has no such version, is of another workspace or archived is refused',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        const foreign = (await agents.create('wrkspc_2', { name: 'f', model })).id;
        expect(await save(agents, ['agent_x'])).toBe('roster_member_not_found');
        expect(await save(agents, [{ type: 'agent', id: a, version: 2 }])).toBe('roster_member_not_found');
        expect(await save(agents, [foreign])).toBe('roster_member_not_found');
        expect(await save(agents, [a])).toBe('ok');
        await agents.archive(workspaceId, a);
        expect(await save(agents, [a])).toBe('roster_member_archived');
        expect(await save(agents, [{ type: 'agent', id: a, version: 1 }])).toBe('roster_member_archived');
      }),
    );

    it(
      '[A27] a coordinator whose member was archived later can still be changed otherwise',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        const { id } = await createLead(agents, [a]);
        await agents.archive(workspaceId, a);
        expect(await agents.update(workspaceId, id, { name: 'chief' })).toMatchObject({ version: 2, name: 'chief' });
      }),
    );

    it(
      '[A28] a roster has 1 to 20 members',
      withAgents(async ({ agents }) => {
        const all: string[] = [];
        for (let at = 0; at <= agentLimits.rosterMembersMax; at++) all.push(await createMember(agents, `m${at}`));
        expect(await save(agents, [])).toBe('roster_empty');
        expect(await save(agents, all.slice(1))).toBe('ok');
        expect(await save(agents, [self, ...all.slice(2)])).toBe('ok');
        expect(await save(agents, all)).toBe('roster_too_large');
        const predefined_agents = all;
        const multiagent = { type: 'multiagent_20261001', subagents: { ...enabled, predefined_agents } } as const;
        expect(await codeOf(agents.create(workspaceId, { name: 'l', model, multiagent }))).toBe('roster_too_large');
      }),
    );

    it(
      '[A29] each agent is in a roster once, however it is named',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        await agents.update(workspaceId, a, { name: 'b' });
        expect(await save(agents, [a, { type: 'agent', id: a }])).toBe('roster_member_repeated');
        expect(await save(agents, [a, a])).toBe('roster_member_repeated');
        const both = [1, 2].map((version) => ({ type: 'agent', id: a, version }) as const);
        expect(await save(agents, both)).toBe('roster_member_repeated');
        expect(await save(agents, [self, self])).toBe('roster_member_repeated');
        const { id } = await createLead(agents, [self]);
        const update = (entries: RosterEntryParams[]) =>
          codeOf(agents.update(workspaceId, id, { multiagent: { type: 'coordinator', agents: entries } }));
        expect(await update([self, id])).toBe('roster_member_repeated');
        expect(await update([self, a])).toBe('ok');
        // An older version of itself is the same agent.
        const old = await createMember(agents, 'old');
        await agents.update(workspaceId, old, { name: 'new' });
        const itself = { type: 'coordinator', agents: [self, { type: 'agent', id: old, version: 1 }] } as const;
        expect(await codeOf(agents.update(workspaceId, old, { multiagent: itself }))).toBe('roster_member_repeated');
      }),
    );

    it(
      '[A30] a member with a roster of its own is refused',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        const { id } = await createLead(agents, [a]);
        expect(await save(agents, [id])).toBe('roster_member_delegates');
        await agents.update(workspaceId, id, { multiagent: null });
        expect(await save(agents, [{ type: 'agent', id, version: 1 }])).toBe('roster_member_delegates');
        expect(await save(agents, [id])).toBe('ok');
        await agents.update(workspaceId, id, { multiagent: { type: 'multiagent_20261001', subagents: disabled } });
        expect(await save(agents, [id])).toBe('roster_member_delegates');
      }),
    );

    it(
      '[A31] members have names of their own, and none is called self',
      withAgents(async ({ agents }) => {
        const [a, again] = [await createMember(agents, 'a'), await createMember(agents, 'a')];
        expect(await save(agents, [a, again])).toBe('roster_name_repeated');
        expect(await save(agents, [await createMember(agents, 'self')])).toBe('roster_name_reserved');
        expect(await save(agents, [await createMember(agents, 'Self')])).toBe('ok');
        // A coordinator may be called like its member, unless it is a member too.
        const lead = await createMember(agents, 'a');
        const update = (params: object) => codeOf(agents.update(workspaceId, lead, params));
        expect(await update({ multiagent: { type: 'coordinator', agents: [a, self] } })).toBe('roster_name_repeated');
        expect(await update({ multiagent: { type: 'coordinator', agents: [a] } })).toBe('ok');
        expect(await update({ name: 'b', multiagent: { type: 'coordinator', agents: [a, self] } })).toBe('ok');
        expect(await update({ name: 'a' })).toBe('roster_name_repeated');
        expect(await update({ name: 'self' })).toBe('roster_name_reserved');
        expect(await update({ name: 'c' })).toBe('ok');
      }),
    );

    it(
      '[A31] the name that counts is the one of the pinned version',
      withAgents(async ({ agents }) => {
        const [a, b] = [await createMember(agents, 'a'), await createMember(agents, 'b')];
        await agents.update(workspaceId, b, { name: 'a' });
        expect(await save(agents, [a, b])).toBe('roster_name_repeated');
        expect(await save(agents, [a, { type: 'agent', id: b, version: 1 }])).toBe('ok');
      }),
    );

    it(
      '[A32] advisors, workflows and inline agents are refused in plain words, not stored in silence',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        expect(await save(agents, [a, { type: 'advisor', model }])).toBe('advisor_not_supported');
        const subagents = { ...enabled, predefined_agents: [a] };
        const create = (given: object) =>
          codeOf(
            agents.create(workspaceId, {
              name: 'l',
              model,
              multiagent: { type: 'multiagent_20261001', subagents, ...given },
            }),
          );
        expect(await create({ advisor: { ...enabled, model } })).toBe('advisor_not_supported');
        expect(await create({ workflows: enabled })).toBe('workflows_not_supported');
        expect(await create({ subagents: { ...subagents, inline_agents: enabled } })).toBe(
          'inline_agents_not_supported',
        );
        expect(await create({ workflows: disabled, advisor: disabled })).toBe('ok');
        expect(await create({ workflows: null, advisor: null })).toBe('ok');
        expect(await create({ subagents: { ...subagents, inline_agents: null } })).toBe('ok');
      }),
    );
  });

  describe('changing', () => {
    it(
      '[A33] null clears a roster, and a sent coordinator replaces the previous one',
      withAgents(async ({ agents }) => {
        const [a, b] = [await createMember(agents, 'a'), await createMember(agents, 'b')];
        const { id } = await createLead(agents, [a]);
        const update = async (multiagent: MultiagentParams | null) =>
          (await agents.update(workspaceId, id, { multiagent })).multiagent;
        expect(await update({ type: 'coordinator', agents: [b] })).toEqual(coordinator([b, 1]));
        expect(await update(null)).toBeNull();
        expect(
          await update({ type: 'multiagent_20261001', subagents: { ...enabled, predefined_agents: [a] } }),
        ).toEqual(newForm([a, 1]));
        expect(await update({ type: 'coordinator', agents: [b] })).toEqual(coordinator([b, 1]));
      }),
    );

    it(
      '[A34] the newer form is a roster too, and reports every other feature as disabled',
      withAgents(async ({ agents }) => {
        const a = await createMember(agents, 'a');
        const create = async (given: object) =>
          agents.create(workspaceId, { name: 'l', model, multiagent: { type: 'multiagent_20261001', ...given } });
        const made = await create({ subagents: { ...enabled, predefined_agents: [a, self] } });
        expect(made.multiagent).toEqual(newForm([a, 1], [made.id, 1]));
        expect((await create({ subagents: disabled })).multiagent).toEqual({
          type: 'multiagent_20261001',
          subagents: disabled,
          workflows: disabled,
          advisor: disabled,
        });
        // Without inline agents the roster has to name an agent, and every default would name none.
        for (const given of [{}, { subagents: null }, { subagents: enabled }]) {
          expect(await codeOf(create(given))).toBe('roster_empty');
        }
        for (const predefined_agents of [null, []]) {
          expect(await codeOf(create({ subagents: { ...enabled, predefined_agents } }))).toBe('roster_empty');
        }
        // What was read can be sent back.
        const sent = made.multiagent as MultiagentParams;
        expect(await agents.update(workspaceId, made.id, { multiagent: sent })).toEqual(made);
      }),
    );

    it(
      '[A35] the newer form is merged into an existing one: absent fields stay, pins included',
      withAgents(async ({ agents }) => {
        const [a, b] = [await createMember(agents, 'a'), await createMember(agents, 'b')];
        const multiagent = { type: 'multiagent_20261001', subagents: { ...enabled, predefined_agents: [a] } } as const;
        const { id } = await agents.create(workspaceId, { name: 'l', model, multiagent });
        await agents.update(workspaceId, a, { system: 'v2' });
        const update = async (given: object) =>
          (await agents.update(workspaceId, id, { multiagent: { type: 'multiagent_20261001', ...given } })).multiagent;
        expect(await update({})).toEqual(newForm([a, 1]));
        expect(await update({ workflows: disabled })).toEqual(newForm([a, 1]));
        expect(await update({ subagents: enabled })).toEqual(newForm([a, 1]));
        expect(await update({ subagents: { ...enabled, inline_agents: disabled } })).toEqual(newForm([a, 1]));
        expect(await update({ subagents: { ...enabled, predefined_agents: [b, a] } })).toEqual(newForm([b, 1], [a, 2]));
        expect(await codeOf(update({ subagents: { ...enabled, predefined_agents: [] } }))).toBe('roster_empty');
        expect(await codeOf(update({ subagents: null }))).toBe('roster_empty');
        expect(await update({ subagents: disabled })).toMatchObject({ subagents: disabled });
        expect(await update({})).toMatchObject({ subagents: disabled });
        expect(await codeOf(update({ subagents: enabled }))).toBe('roster_empty');
        await agents.update(workspaceId, id, { multiagent: { type: 'coordinator', agents: [a] } });
        expect(await codeOf(update({}))).toBe('roster_empty');
      }),
    );
  });
});

async function createMember(agents: Agents, name: string): Promise<string> {
  return (await agents.create(workspaceId, { name, model })).id;
}

function createLead(agents: Agents, entries: readonly RosterEntryParams[]) {
  const multiagent = { type: 'coordinator', agents: entries } as const;
  return agents.create(workspaceId, { name: 'lead', model, multiagent });
}

function save(agents: Agents, entries: readonly RosterEntryParams[]): Promise<string> {
  return codeOf(createLead(agents, entries));
}

type Pinned = readonly [id: string, version: number];

function references(members: readonly Pinned[]) {
  return members.map(([id, version]) => ({ type: 'agent', id, version }));
}

function coordinator(...members: Pinned[]) {
  return { type: 'coordinator', agents: references(members) };
}

function newForm(...members: Pinned[]) {
  return {
    type: 'multiagent_20261001',
    subagents: { type: 'enabled', predefined_agents: references(members), inline_agents: disabled },
    workflows: disabled,
    advisor: disabled,
  };
}
