import type { ClientEventParams } from '@fleetloom/protocol/managed-agents';
import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectRefusal, expectThat } from '../harness/expect.ts';
import { askingTools, customTools, lead, onlyPendingCall, onlyChild, write } from '../harness/lead.ts';
import { sleeps } from '../harness/script.ts';
import { ofType, saidIn } from '../harness/talk.ts';

/** Approvals and custom tools of sub-agents. */
export const threadApprovalChecks = defineChecks('Threads', [
  check(139, 'C', "A child's ask is on the session stream with its thread, and the same id", ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], { helper: { turns: [[write], [{ say: 'wrote' }]], tools: askingTools } });
    const events = await talk.turn('go');
    const child = await onlyChild(talk);
    const use = onlyPendingCall(events, 'agent.tool_use');
    expectEqual([use.session_thread_id, use.evaluated_permission], [child.id, 'ask'], 'the cross-post');
    const [own] = ofType(await talk.threadEvents(child.id), 'agent.tool_use');
    const { session_thread_id: _, ...rest } = use;
    expectEqual(own, rest, 'the copy of the thread');
  }),

  check(
    140,
    'C',
    'A confirmation finds the child by the id alone, and its echo names the thread',
    ['scripts'],
    async (t) => {
      const talk = await lead(t, ['helper'], { helper: { turns: [[write], [{ say: 'wrote' }]], tools: askingTools } });
      const before = await talk.turn('go');
      const child = await onlyChild(talk);
      const tool_use_id = onlyPendingCall(before, 'agent.tool_use').id;
      const stream = await talk.watch();
      const from = stream.events.length;
      const [echo] = await talk.send({ type: 'user.tool_confirmation', tool_use_id, result: 'allow' });
      expectEqual('session_thread_id' in echo! && echo.session_thread_id, child.id, 'session_thread_id of the echo');
      await stream.until('session.status_idle', { from });
      const events = await talk.list();
      const [shown] = ofType(events, 'user.tool_confirmation');
      expectEqual([shown?.id, shown?.session_thread_id], [echo?.id, child.id], 'the confirmation on the session');
      const own = await talk.threadEvents(child.id);
      const [confirmed] = ofType(own, 'user.tool_confirmation');
      expectEqual(confirmed?.id, echo?.id, 'the confirmation on the thread');
      expectEqual(
        ofType(own, 'agent.tool_result').map(({ is_error }) => is_error),
        [false],
        'the result',
      );
      expectThat(saidIn(events).includes('wrote'), 'the report', saidIn(events));
    },
  ),

  check(141, 'E', 'A confirmation may name the thread; the wrong one is 400', ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], { helper: { turns: [[write], [{ say: 'wrote' }]], tools: askingTools } });
    const before = await talk.turn('go');
    const [primary, child] = await talk.threads();
    const tool_use_id = onlyPendingCall(before, 'agent.tool_use').id;
    const confirm = (session_thread_id: string): ClientEventParams => ({
      type: 'user.tool_confirmation',
      tool_use_id,
      result: 'allow',
      session_thread_id,
    });
    await expectRefusal(talk.send(confirm(primary!.id)), 400, 'another thread', /thread/);
    const events = await talk.turn(confirm(child!.id));
    expectThat(saidIn(events).includes('wrote'), 'the report', saidIn(events));
  }),

  check(142, 'C', "A child's custom tool works the same way", ['scripts'], async (t) => {
    const talk = await lead(t, ['helper'], {
      helper: { turns: [[{ call: 'lookup', input: {} }], [{ say: 'found {{last_result}}' }]], tools: customTools },
    });
    const before = await talk.turn('go');
    const child = await onlyChild(talk);
    const use = onlyPendingCall(before, 'agent.custom_tool_use');
    expectEqual(use.session_thread_id, child.id, 'session_thread_id');
    const content = [{ type: 'text', text: 'gold' }] as const;
    const stream = await talk.watch();
    const from = stream.events.length;
    const [echo] = await talk.send({ type: 'user.custom_tool_result', custom_tool_use_id: use.id, content });
    expectEqual('session_thread_id' in echo! && echo.session_thread_id, child.id, 'session_thread_id of the echo');
    await stream.until('session.status_idle', { from });
    expectThat(saidIn(await talk.list()).includes('found gold'), 'the report', saidIn(await talk.list()));
  }),

  check(143, 'C', 'A session that is idle lists what all of its threads ask for', ['scripts'], async (t) => {
    const talk = await lead(t, ['one', 'two'], {
      one: { turns: [[write], [{ say: 'ok' }]], tools: askingTools },
      two: { turns: [[{ call: 'lookup', input: {} }], [{ say: 'ok' }]], tools: customTools },
    });
    const events = await talk.turn('go');
    const asks = [onlyPendingCall(events, 'agent.tool_use').id, onlyPendingCall(events, 'agent.custom_tool_use').id];
    const { stop_reason: stop } = ofType(events, 'session.status_idle').at(-1)!;
    expectEqual(stop.type === 'requires_action' && stop.event_ids.toSorted(), asks.toSorted(), 'event_ids');
  }),

  check(144, 'C', 'One child asks while another runs: the session runs, the child is idle', ['scripts'], async (t) => {
    const talk = await lead(t, ['asks', 'works'], {
      asks: { turns: [[write], [{ say: 'ok' }]], tools: askingTools },
      works: { turns: [[sleeps]] },
    });
    const stream = await talk.watch();
    await talk.say('go');
    const idle = await stream.until('session.thread_status_idle', { where: ({ agent_name }) => agent_name === 'asks' });
    const use = await stream.until('agent.tool_use', {
      where: ({ evaluated_permission }) => evaluated_permission === 'ask',
    });
    expectEqual(idle.stop_reason, { type: 'requires_action', event_ids: [use.id] }, 'why the child stopped');
    expectEqual((await talk.retrieve()).status, 'running', 'status of the session');
    const works = (await talk.children()).find(({ agent }) => agent.name === 'works');
    await talk.send({ type: 'user.interrupt', session_thread_id: works!.id });
    const { stop_reason: stop } = await stream.until('session.status_idle');
    expectEqual(stop, { type: 'requires_action', event_ids: [use.id] }, 'why the session stopped');
  }),
]);
