import { check, defineChecks } from '../harness/check.ts';
import type { Context } from '../harness/context.ts';
import { expectEqual, expectRefused, expectThat } from '../harness/expect.ts';
import { sleeps } from '../harness/script.ts';
import { toMessage } from '../harness/talk.ts';
import { idsOf } from '../harness/session-ids.ts';

const SLOW = [[sleeps]] as const;

export const sessionListChecks = defineChecks('Sessions', [
  check(74, 'C', 'Sessions are listed newest first, and with order=asc the other way', [], async (t) => {
    const { agentId, ids } = await several(t, 3);
    expectEqual(await idsOf(t, { agent_id: agentId }), ids.toReversed(), 'sessions');
    expectEqual(await idsOf(t, { agent_id: agentId, order: 'asc' }), ids, 'sessions with order=asc');
  }),

  check(75, 'C', 'statuses[] filters sessions', ['scripts'], async (t) => {
    const agent = await t.agent({ turns: SLOW });
    const idle = await t.session({ agentId: agent.id });
    const running = await t.session({ agentId: agent.id, create: initial(toMessage('go')) });
    const listed = (statuses: ('idle' | 'running' | 'terminated')[]) => idsOf(t, { agent_id: agent.id, statuses });
    expectEqual(await listed(['idle', 'running']), [running.id, idle.id], 'idle and running');
    expectEqual(await listed(['idle']), [idle.id], 'idle');
    expectEqual(await listed(['running']), [running.id], 'running');
    expectEqual(await listed(['terminated']), [], 'terminated');
  }),

  check(76, 'C', 'agent_id filters sessions, and agent_version narrows it', [], async (t) => {
    const agent = await t.agent({ description: 'v1' });
    const first = await t.session({ agentId: agent.id });
    await t.client.beta.agents.update(agent.id, { version: 1, description: 'v2' });
    const second = await t.session({ agentId: agent.id });
    await t.session();
    expectEqual(await idsOf(t, { agent_id: agent.id }), [second.id, first.id], 'of the agent');
    expectEqual(await idsOf(t, { agent_id: agent.id, agent_version: 1 }), [first.id], 'of version 1');
  }),

  check(77, 'E', 'created_at[gt] excludes its moment, [gte] includes it', [], async (t) => {
    const { id, agent, created_at } = (await t.session()).created;
    const listed = (params: object) => idsOf(t, { agent_id: agent.id, ...params });
    expectEqual(await listed({ 'created_at[gte]': created_at }), [id], 'gte');
    expectEqual(await listed({ 'created_at[gt]': created_at }), [], 'gt');
    expectEqual(await listed({ 'created_at[lte]': created_at }), [id], 'lte');
    expectEqual(await listed({ 'created_at[lt]': created_at }), [], 'lt');
  }),

  check(78, 'E', 'prev_page is null on the first page and leads back from the second', [], async (t) => {
    const { agentId, ids } = await several(t, 3);
    const pageOf = async (page?: string) => {
      const query = page === undefined ? '' : `&page=${page}`;
      return (await t.raw({ path: `/v1/sessions?agent_id=${agentId}&limit=2${query}` })).json;
    };
    const idsIn = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    const first = await pageOf();
    expectEqual([idsIn(first), first.prev_page], [[ids[2], ids[1]], null], 'the first page');
    const second = await pageOf(first.next_page);
    expectEqual([idsIn(second), second.next_page], [[ids[0]], null], 'the second page');
    expectThat(typeof second.prev_page === 'string', 'prev_page on the second page', second.prev_page);
    const back = await pageOf(second.prev_page);
    expectEqual([idsIn(back), back.prev_page], [[ids[2], ids[1]], null], 'the way back');
  }),

  check(79, 'E', 'A cursor used with the other order is 400', [], async (t) => {
    const { agentId } = await several(t, 2);
    const { next_page } = (await t.raw({ path: `/v1/sessions?agent_id=${agentId}&limit=1` })).json;
    const path = `/v1/sessions?agent_id=${agentId}&limit=1&order=asc&page=${next_page}`;
    expectRefused(await t.raw({ path }), 400, 'the other order', /page|order/);
    expectRefused(await t.raw({ path: '/v1/sessions?page=nonsense' }), 400, 'no cursor at all', /page/);
  }),
]);

function initial(...events: readonly object[]): { initial_events: never } {
  return { initial_events: events as never };
}

async function several(t: Context, count: number): Promise<{ agentId: string; ids: readonly string[] }> {
  const { id: agentId } = await t.agent();
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    ids.push((await t.session({ agentId })).id);
    // Two sessions created in the same millisecond may be in any order.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { agentId, ids };
}
