import { expect, it } from 'vitest';
import type { EngineEvent } from '../engines/model/engine.ts';
import type { SessionFrame } from '../frames/frames.ts';
import type { Budget } from '../frames/payload-parts.ts';
import {
  confirm,
  crash,
  createGate,
  lead,
  message,
  openFleet,
  result,
  solo,
  workerResult,
  workspaceId,
} from './suite/fleet.suite.ts';
import { createPlainEngine, type PlainAnswer, someUsage } from './suite/plain-engine.suite.ts';

// What is open when a process is killed, and what the next one makes of it; the rest is in recovery.test.ts.

const bash = { kind: 'builtin' as const };
const unbound: Budget = { cost_nano_usd: null, tokens: null, requests: null, wall_ms: null };

it('[R240] a follow-up that a crash cut off finds its history, and is answered once', async () => {
  const delivered: number[] = [];
  const engine = createPlainEngine(({ thread, messages }) => {
    if (thread.agentName === 'worker') {
      delivered.push(messages.length);
      return say(`Answer ${messages.length}.`);
    }
    const child = /\(thread (sthr_\w+)\)/.exec(JSON.stringify(messages))?.[1];
    const input = { agent: 'worker', message: 'More.', thread_id: child ?? null };
    if (messages.length === 1) return call('delegate', { tasks: [{ agent: 'worker', message: 'First.' }] });
    return messages.length === 3 ? call('send_to_agent', input) : say('Done.');
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(lead, 'Go');
  await fleet.rest(id);
  expect(delivered).toEqual([1, 3]);
  const isSecond = (frame: SessionFrame) =>
    frame.type === 'span.model_request_start' && frame.turn!.depth === 1 && frame.turn!.streamId === 2;
  const next = await crash(fleet, isSecond);
  await next.rest(id, (await fleet.frames(id)).find(isSecond)!.seq);
  expect(delivered).toEqual([1, 3, 3]);
  const [, child] = [...(await next.state(id)).threads.values()];
  expect(child!.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect((await next.payloads(id, 'run.ended')).map(({ ok }) => ok)).toEqual([true]);
});

it('[R241] a summary that failed for the moment, or that a crash cut off, is asked for again', async () => {
  for (const isCrashed of [false, true]) {
    let summaries = 0;
    let calls = 0;
    const engine = createPlainEngine((request) => {
      const isSummary = JSON.stringify(request.messages.at(-1)).includes('replaced by a summary');
      if (isSummary) return ++summaries === 1 && !isCrashed ? overloaded() : say('THE SUMMARY');
      return ++calls <= 2 ? call('bash', {}) : calls === 3 ? overflow() : say('Done.');
    });
    const fleet = await openFleet({ engine, tools: { bash } });
    const id = await fleet.begin(solo, 'Go');
    await fleet.rest(id);
    const isSummary = (frame: SessionFrame) =>
      frame.type === 'span.model_request_start' && frame.payload.purpose === 'compaction';
    const last = isCrashed ? await crash(fleet, isSummary) : fleet;
    if (isCrashed) await last.rest(id);
    const asked = (await last.payloads(id, 'span.model_request_start')).map(({ purpose }) => purpose);
    expect(asked).toEqual(['turn', 'turn', 'turn', 'compaction', 'compaction', 'turn']);
    expect(await last.payloads(id, 'agent.thread_context_compacted')).toHaveLength(1);
    expect(await last.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
  }
});

it('[R242] a session paused by its budget is still paused after a crash, and continues when it is raised', async () => {
  const fleet = await openFleet({ tools: { bash } });
  const turns = [[{ call: 'bash' }], [{ say: 'Done.' }]];
  const id = await fleet.begin(solo, { turns }, { budget: { ...unbound, requests: 1 } });
  const { seq } = await fleet.rest(id);
  const next = await crash(fleet, ({ type }) => type === 'session.status_idle');
  await expect(next.send(id, message('Go on'))).rejects.toMatchObject({ code: 'budget_reached' });
  await next.sessions.update({ workspaceId, sessionId: id, budget: { ...unbound, requests: 2 } });
  expect((await next.rest(id, seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(await next.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R243] messages that waited for the next turn still do after a crash, each delivered once and in their order', async () => {
  const gate = createGate();
  const fleet = await openFleet({ tools: { bash: { ...bash, run: async () => (await gate.opened, result('ran')) } } });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'First.' }], [{ say: 'Then.' }]] });
  await fleet.until(id, ({ type }) => type === 'tool.started');
  const sent = await fleet.send(id, message('one'), message('two'));
  const isLast = (frame: SessionFrame) => frame.type === 'user.message' && frame.payload.id === sent[1]!.id;
  const { seq } = await fleet.until(id, isLast);
  const next = await crash(fleet, isLast);
  await next.rest(id, seq);
  const delivered = (await next.payloads(id, 'user.message')).filter(({ is_processed }) => is_processed);
  expect(delivered.map((each) => each.id).slice(1)).toEqual(sent.map((each) => each.id));
  expect((await next.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, true]);
  gate.open();
});

it('[R244] a call of a worker survives the process, while its approval or its result is pending', async () => {
  let rests = 0;
  const fleet = await openFleet({ tools: { bash: { ...bash, permission: 'ask' }, read: bash } });
  const turns = [
    [{ call: 'bash' }, { call: 'read' }],
    [{ expect: { tool_result: ['shell', 'file'] } }, { say: 'Done.' }],
  ];
  const id = await fleet.begin(solo, { turns }, { environment: { id: 'env_1', type: 'self_hosted' } });
  const first = await fleet.rest(id);
  const [shell, file] = await fleet.asks(id);
  const asking = await crash(fleet, ({ type }) => type === 'session.status_idle');
  for (const each of [asking, fleet]) {
    await each.send(id, confirm(shell!), workerResult(file!, 'file'));
    expect((await each.rest(id, first.seq)).payload).toMatchObject({ stop_reason: { event_ids: [shell] } });
  }
  const second = await fleet.rest(id, first.seq);
  const waiting = await crash(fleet, ({ type }) => type === 'session.status_idle' && ++rests === 2);
  for (const each of [asking, waiting]) {
    await each.send(id, workerResult(shell!, 'shell'));
    expect((await each.rest(id, second.seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
    expect(await each.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
  }
});

function say(text: string): PlainAnswer {
  return { content: [{ type: 'text', text }] };
}

let calls = 0;
function call(name: string, input: object): PlainAnswer {
  // Whatever a test has put together is JSON.
  return {
    content: [{ type: 'tool_use', id: `toolu_${++calls}`, name, input: input as never }],
    reason: 'tool_use',
  };
}

async function* overloaded(): AsyncGenerator<EngineEvent> {
  const failure = { reason: 'overloaded', message: 'no', consequence: 'retry', retryAfterMs: 0 } as const;
  yield { type: 'failed', failure, usage: someUsage };
}

async function* overflow(): AsyncGenerator<EngineEvent> {
  const failure = { reason: 'context_exceeded', message: 'prompt is too long', consequence: 'turn' } as const;
  yield { type: 'failed', failure: { ...failure, retryAfterMs: null }, usage: null };
}
