import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectThat } from '../harness/expect.ts';
import { lead, onlyChild, write } from '../harness/lead.ts';
import { ofType } from '../harness/talk.ts';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';

export const threadChecks = defineChecks('Threads', [
  check(129, 'C', 'A plain session has exactly one thread, without a parent', [], async (t) => {
    const talk = await t.session({ name: 'alone' });
    const threads = await talk.threads();
    expectEqual(
      threads.map(({ session_id, parent_thread_id, status, agent, stats, usage }) => [
        session_id,
        parent_thread_id,
        status,
        agent.name,
        stats,
        usage,
      ]),
      [[talk.id, null, 'idle', 'alone', null, null]],
      'threads',
    );
    const { id } = threads[0]!;
    const read = await t.client.beta.sessions.threads.retrieve(id, { session_id: talk.id });
    expectEqual(read.id, id, 'the thread');
  }),

  check(130, 'C', 'Every session shows when its primary thread is running and idle', ['scripts'], async (t) => {
    const talk = await t.session({ name: 'alone', turns: [[{ say: 'ok' }]] });
    const events = await talk.turn('go');
    const [primary] = await talk.threads();
    const who = { session_thread_id: primary?.id, agent_name: 'alone' };
    const shown = [...ofType(events, 'session.thread_status_running'), ...ofType(events, 'session.thread_status_idle')];
    expectEqual(
      shown.map(({ session_thread_id, agent_name }) => ({ session_thread_id, agent_name })),
      [who, who],
      'of which thread',
    );
    expectThat(primary?.stats !== null && primary?.usage !== null, 'stats and usage once it has run', primary);
    expectEqual(await talk.threadEvents(primary!.id), events, 'the events of the primary thread');
  }),

  check(
    131,
    'C',
    'Delegation: thread_created with the name, and a thread below the primary one',
    ['scripts'],
    async (t) => {
      const talk = await lead(t, ['helper']);
      const events = await talk.turn('go');
      const [created] = ofType(events, 'session.thread_created');
      const [primary, child] = await talk.threads();
      expectEqual([created?.agent_name, created?.session_thread_id], ['helper', child?.id], 'session.thread_created');
      expectEqual(
        [child?.parent_thread_id, child?.agent.name, child?.status],
        [primary?.id, 'helper', 'idle'],
        'the child',
      );
      const order = [
        'agent.tool_use',
        'session.thread_created',
        'session.thread_status_running',
        'agent.thread_message_sent',
        'agent.tool_result',
      ];
      const of = events.filter((event) => order.includes(event.type) && !isPrimaryStatus(event, primary!.id));
      expectEqual(
        of.map(({ type }) => type),
        order,
        'the order',
      );
    },
  ),

  check(132, 'C', "A child's messages, tools and spans are on its own thread only", ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], {
      helper: { turns: [[write], [{ say: 'wrote it' }]], tools: [{ type: 'agent_toolset_20260401' }] as never },
    });
    const events = await talk.turn('go');
    const own = await talk.threadEvents((await onlyChild(talk)).id);
    const types = own.map(({ type }) => type);
    for (const type of [
      'agent.message',
      'agent.tool_use',
      'agent.tool_result',
      'span.model_request_start',
      'span.model_request_end',
    ] as const) {
      expectThat(types.includes(type), `${type} on the thread`, types);
      const ids = new Set(ofType(own, type).map(({ id }) => id));
      expectEqual(
        events.filter(({ id }) => ids.has(id)),
        [],
        `${type} on the session`,
      );
    }
    expectEqual(types[0], 'session.thread_status_running', 'the first event of the thread');
    expectEqual(types.at(-1), 'session.thread_status_idle', 'the last event of the thread');
  }),
]);

function isPrimaryStatus(event: SessionEvent, primaryId: string): boolean {
  return event.type === 'session.thread_status_running' && event.session_thread_id === primaryId;
}
