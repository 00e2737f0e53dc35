import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertProperty, isLong, timeout } from '../../../../../test/support/seed.ts';
import { planOf, resolveApproval, toApproval } from './approval.ts';
import { describeRewind } from '../model/describe-rewind.ts';
import { describeSettings } from '../model/describe-settings.ts';
import type { FleetEvent, KnownFleetEvent } from '../wire/events.ts';
import { createFleet, type Fleet, findSession, foldFleet } from './fleet.ts';
import { layoutRun } from '../model/layout-run.ts';
import { limits } from '../limits.ts';
import { nowDoing } from '../model/now-doing.ts';
import { parseFleetEvent } from '../wire/parse-fleet-event.ts';
import type { GapReason, Run } from './run.ts';
import type { Slot } from './slot.ts';
import { createSlots, currentRun, foldSlots, openApprovals, type SessionSlots } from './slots.ts';

describe('the consumer rule', () => {
  it('[F5] a slot opens on stream_start, receives the events of its stream_id, and closes on stream_end', () => {
    const story = new Story().request().start(0).start(1, { parent: 0, agent: 'scout', task: 'look', model: 'm1' });
    expect(slotOf(fold(story), 1)).toMatchObject({
      streamId: 1,
      parentStreamId: 0,
      depth: 1,
      agent: 'scout',
      threadId: 'thread_1',
      model: 'm1',
      task: 'look',
      state: 'running',
      phase: 'starting',
      startedAt: at(3),
      endedAt: null,
    });
    story.say('text', 1, { delta: 'found ' }).say('text', 0, { delta: 'me' }).say('text', 1, { delta: 'it' });
    expect(textsOf(fold(story))).toEqual(['me', 'found it']);
    story.end(1);
    const { slots } = runOf(fold(story));
    expect(slots.map(({ state }) => state)).toEqual(['running', 'ok']);
    expect(slots[1]).toMatchObject({ endedAt: at(7), stopReason: 'end_turn', error: null });
    expect(fold(story).gaps).toEqual([]);
  });

  it('[F5] the documented example of a master and three researchers folds to four slots that ended well', () => {
    const state = fold(documentedExample());
    expect(runOf(state)).toMatchObject({ state: 'ok', content: 'Paris, Berlin, and Rome', isWhole: true });
    expect(textsOf(state)).toEqual([
      '→ delegating: 3 in parallel\nParis, Berlin, and Rome',
      'RESULT: Paris',
      'RESULT: Berlin',
      'RESULT: Rome',
    ]);
    expect(runOf(state).slots.every((slot) => slot.state === 'ok')).toBe(true);
    expect(runOf(state).totals.usage).toMatchObject({ inputTokens: 842 + 910 + 803 + 1240, outputTokens: 610 });
    expect(state.gaps).toEqual([]);
  });

  it('[F5] text of each stream is its deltas, however the streams interleave', { timeout }, () => {
    const piece = fc.tuple(fc.nat(4), fc.string({ maxLength: 8, unit: 'binary' }));
    assertProperty(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const story = new Story().request();
        for (const id of [0, 1, 2, 3, 4]) story.start(id, id === 0 ? {} : { parent: 0 });
        for (const [id, delta] of pieces) story.say('text', id, { delta });
        const expected = [0, 1, 2, 3, 4].map((id) =>
          pieces
            .filter(([to]) => to === id)
            .map(([, delta]) => delta)
            .join(''),
        );
        expect(textsOf(fold(story))).toEqual(expected);
      }),
      isLong ? 20_000 : 200,
    );
  });

  it('[F6] a slot has its current activity, since when, and in one line', () => {
    const story = new Story().request().start(0);
    const seen: string[] = [];
    const look = () => {
      const slot = slotOf(fold(story), 0);
      seen.push(`${slot.state} ${slot.phase} ${slot.since} | ${nowDoing(slot)}`);
    };
    look();
    story.say('agent_start', 0, { model: 'm', iteration: 1 });
    look();
    story.say('thinking', 0, { delta: '' }).say('thinking', 0, { delta: 'hm' });
    look();
    story.say('text', 0, { delta: 'I\n look ' }).say('text', 0, { delta: ' now.' });
    look();
    story.tool(0, 'a', { tool: 'Bash', input: { description: 'lists', command: 'ls\n-l' } });
    look();
    story.tool(0, 'b', { tool: 'Read', input: { nothing: 1 } });
    look();
    story.toolEnd(0, 'b');
    look();
    story.toolEnd(0, 'a');
    look();
    story.start(1, { parent: 0 }).start(2, { parent: 0 });
    look();
    story.end(1);
    look();
    story.end(2);
    look();
    story.end(0, { ok: false, stop_reason: 'error', error: 'the model said no' });
    look();
    expect(seen).toEqual([
      `running starting ${at(2)} | waiting for the model`,
      `running requesting ${at(3)} | waiting for the model`,
      `running thinking ${at(4)} | thinking`,
      `running writing ${at(6)} | I look now.`,
      `running tool ${at(8)} | Bash: ls -l`,
      `running tool ${at(8)} | Read and 1 more`,
      `running tool ${at(8)} | Bash: ls -l`,
      `running between ${at(11)} | working`,
      `running children ${at(12)} | waiting for 2`,
      `running children ${at(12)} | waiting for 1`,
      `running between ${at(15)} | working`,
      `failed between ${at(16)} | the model said no`,
    ]);
  });

  it('[F61] a slot has the title of its start, if there is one', () => {
    const story = new Story().request().start(0);
    story.say('stream_start', 1, {
      parent_stream_id: 0,
      child_index: null,
      title: 'Read the docs',
      task: 'x',
      model: 'm',
    });
    const slots = fold(story);
    expect([slotOf(slots, 0).title, slotOf(slots, 1).title]).toEqual([null, 'Read the docs']);
  });

  it('[F71] errors of a session are kept until its next run begins, also between two runs, and open no run', () => {
    const story = new Story().request().start(0).end(0).done();
    const lost = { message: 'gone', code: 'unknown_error', reason: 'program_work_lost' };
    const before = fold(story);
    story.event('session_error', lost);
    const after = fold(story);
    expect(after.errors).toMatchObject([lost]);
    expect([after.runs, after.gaps]).toEqual([before.runs, []]);
    for (let index = 0; index < limits.sessionErrorsMax; index++)
      story.event('session_error', { ...lost, code: `${index}` });
    expect(fold(story).errors.map(({ code }) => code)).toEqual(
      Array.from({ length: limits.sessionErrorsMax }, (_, index) => `${index}`),
    );
    expect(fold(story.request({ request_id: 'req_2' })).errors).toEqual([]);
    // A reader that begins in the middle misses nothing by it.
    expect(foldSlots(createSlots(), new Story().event('session_error', lost).events[0]!)).toMatchObject({
      runs: [],
      errors: [lost],
    });
  });

  it('[V166] a rewind of files changes no run and is not a gap, and is described in one line', () => {
    const story = new Story().request().start(0).end(0).done();
    const before = fold(story);
    const rewound = {
      message_id: 'sevt_1',
      by: 'admin',
      files: ['a.ts', 'b.ts', 'c.ts', 'd.ts'],
      files_count: 5,
      lines_added: 3,
      lines_removed: 1,
    };
    story.event('files_rewound', rewound);
    const after = fold(story);
    expect(after).toEqual({ ...before, cursor: after.cursor, lastAt: after.lastAt });
    const event = { type: 'files_rewound' as const, cursor: '', seq: null, ts: null, ...rewound };
    expect(describeRewind(event)).toBe('files rewound by admin (5): a.ts, b.ts, c.ts');
    expect(describeRewind({ ...event, files: ['a.ts'], files_count: 1 })).toBe('files rewound by admin (1): a.ts');
  });

  it('[F72] thinking that is retracted changes nothing in a slot, which keeps no thinking', () => {
    const story = new Story().request().start(0).say('thinking', 0, { delta: 'Hm.' });
    const before = slotOf(fold(story), 0);
    const after = slotOf(fold(story.say('thinking_retract', 0, { from: 0 })), 0);
    expect(after).toEqual({ ...before, lastAt: after.lastAt });
    expect(fold(story).unknownEvents).toBe(0);
  });

  it('[F62] a slot keeps which settings were loaded, and they are described in one line', () => {
    const story = new Story().request().start(0);
    expect(slotOf(fold(story), 0).settings).toBeNull();
    const none = { settings: 'user', instructions: [], hooks: [], agents: [], skills: [], rules: [] };
    const some = {
      ...none,
      settings: 'project',
      instructions: ['/w/CLAUDE.md'],
      hooks: ['Stop: a', 'Stop: b'],
      skills: ['x'],
    };
    story.say('settings_loaded', 0, some);
    expect(slotOf(fold(story), 0).settings).toMatchObject(some);
    expect(describeSettings(some)).toBe('project settings: CLAUDE.md, 2 hooks, 1 skill');
    expect(describeSettings(none)).toBe('user settings: nothing found');
  });

  it('[MX204] a slot has the plan of its agent and the last 2,000 characters that a running call wrote', () => {
    const call = { tool: 'bash', tool_use_id: 't1' };
    const story = new Story()
      .request()
      .start(0)
      .say('tool_start', 0, { ...call, input: {} });
    story.say('tool_output', 0, { ...call, delta: 'x'.repeat(1_999) }).say('tool_output', 0, { ...call, delta: 'yz' });
    story.say('tool_output', 0, { ...call, tool_use_id: 'unknown', delta: 'n' });
    expect(limits.outputCharsMax).toBe(2_000);
    expect(slotOf(fold(story), 0).tools[0]?.output).toBe(`${'x'.repeat(1_998)}yz`);
    const items = [{ text: 'Look', status: 'pending' }];
    story.say('plan', 0, { items }).say('tool_call', 0, { ...call, ok: true, duration_ms: 1 });
    const slot = slotOf(fold(story), 0);
    expect([slot.plan, slot.tools[0]?.output]).toEqual([items, undefined]);
  });

  it('[F50] a slot has the cause and end of its wait, and neither once the wait is over', () => {
    const story = new Story().request().start(0).say('agent_start', 0, { model: 'm', iteration: 1 });
    const seen: unknown[] = [];
    const look = () => {
      const slot = slotOf(fold(story), 0);
      seen.push([slot.phase, slot.since, slot.waits, nowDoing(slot)]);
    };
    story.say('request_queued', 0, { reason: 'concurrency', ahead: 4 });
    look();
    story.say('request_admitted', 0, {});
    look();
    const fault = { code: 'model_rate_limited_error', reason: 'rate_limited', message: '429 slow\ndown' };
    story.say('request_retrying', 0, { ...fault, attempt: 2, attempts_max: 6, retry_at: at(90) });
    look();
    story.say('agent_start', 0, { model: 'm', iteration: 2 });
    story.say('request_queued', 0, { reason: 'paused', ahead: 0, until: at(99) });
    look();
    story.say('text', 0, { delta: 'Hi' });
    look();
    const retrying = { type: 'retrying', ...fault, attempt: 2, attemptsMax: 6, until: at(90) };
    expect(seen).toEqual([
      [
        'queued',
        at(4),
        { type: 'queued', reason: 'concurrency', ahead: 4, until: null },
        'queued: over the concurrency cap',
      ],
      ['requesting', at(5), null, 'waiting for the model'],
      ['retrying', at(6), retrying, 'attempt 2 follows: 429 slow down'],
      [
        'queued',
        at(8),
        { type: 'queued', reason: 'paused', ahead: 0, until: at(99) },
        'queued: the endpoint asked for a pause',
      ],
      ['writing', at(9), null, 'Hi'],
    ]);
    story.say('request_retrying', 0, { ...fault, attempt: 2, retry_at: at(90) }).start(1, { parent: 0 });
    expect(slotOf(fold(story), 0)).toMatchObject({ phase: 'children', waits: null });
    story.end(1).say('request_retrying', 0, { ...fault, attempt: 2, retry_at: at(90) });
    expect(slotOf(fold(story), 0).waits).toMatchObject({ attemptsMax: null });
    // A late word of an admission that belongs to nothing changes no phase.
    expect(slotOf(fold(story.say('request_admitted', 0, {})), 0).phase).toBe('retrying');
    expect(slotOf(fold(story.end(0)), 0)).toMatchObject({ state: 'ok', waits: null });
  });

  it('[F51] a slot knows how full its newest answer left the window, until that is cleared', () => {
    const usage = { model: 'm', input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_create_tokens: 0 };
    const story = new Story().request().start(0);
    const contextOf = () => slotOf(fold(story), 0).context;
    expect(contextOf()).toBeNull();
    story.say('token_usage', 0, { ...usage, context_tokens: 150, context_window: 200 });
    expect(contextOf()).toEqual({ tokens: 150, window: 200 });
    // A request that failed, or a summary, has none.
    story.say('token_usage', 0, usage);
    expect(contextOf()).toEqual({ tokens: 150, window: 200 });
    story.say('context_compacted', 0, {});
    expect(contextOf()).toBeNull();
    story.say('token_usage', 0, { ...usage, context_tokens: 20, context_window: 200 }).end(0);
    expect(contextOf()).toEqual({ tokens: 20, window: 200 });
  });

  it('[F6] a master that continues while its children run is not shown as waiting for them', () => {
    const story = new Story().request().start(0).start(1, { parent: 0 }).say('text', 0, { delta: 'in between' });
    expect(slotOf(fold(story), 0)).toMatchObject({ phase: 'writing', openChildren: 1 });
    expect(slotOf(fold(story.end(1)), 0)).toMatchObject({ phase: 'writing', openChildren: 0 });
  });

  it('[F6] an ended turn shows its last words, or why it stopped', () => {
    const said = slotOf(fold(new Story().request().start(0).say('text', 0, { delta: 'Done.' }).end(0)), 0);
    const silent = slotOf(fold(new Story().request().start(0).end(0)), 0);
    expect([nowDoing(said), nowDoing(silent)]).toEqual(['Done.', 'end_turn']);
  });

  it('[F6] an error of a turn is kept until it ends badly, and forgotten if it ends well', () => {
    const story = new Story().request().start(0).start(1, { parent: 0 });
    story.say('error', 0, { message: 'overloaded', code: 'x' }).say('error', 1, { message: 'broken', code: 'y' });
    expect(slotOf(fold(story), 0).error).toBe('overloaded');
    const state = fold(story.end(0).end(1, { ok: false, stop_reason: 'error' }));
    expect(runOf(state).slots.map(({ error }) => error)).toEqual([null, 'broken']);
  });

  it('[F8] tools have their durations and ends, and a block that has only an end is one too', () => {
    const story = new Story()
      .request()
      .start(0)
      .tool(0, 'a', { tool: 'Bash', input: { command: 'make' } });
    story.tool(0, 'b', { tool: 'Grep', input: 'needle' }).toolEnd(0, 'b', { ok: false, error: 'no match', ms: 12 });
    story.toolEnd(0, 'c', { tool: 'parallel', ms: 900 });
    const { tools, toolsStarted, toolsFailed } = slotOf(fold(story), 0);
    expect(tools).toMatchObject([
      { toolUseId: 'a', tool: 'Bash', label: 'make', state: 'running', startedAt: at(3), durationMs: null },
      { toolUseId: 'b', label: 'needle', state: 'failed', startedAt: at(4), durationMs: 12, error: 'no match' },
      { toolUseId: 'c', tool: 'parallel', state: 'ok', startedAt: null, durationMs: 900 },
    ]);
    expect([toolsStarted, toolsFailed]).toEqual([3, 1]);
    expect(slotOf(fold(story.end(0)), 0).tools[0]).toMatchObject({ state: 'lost', durationMs: null });
  });

  it('[F8] files are kept by path and size', () => {
    const file = { path: 'a.txt', size: 3, encoding: 'utf8', content: 'abc' };
    const state = fold(
      new Story()
        .request()
        .start(0)
        .say('file', 0, file)
        .say('file', 0, { ...file, path: 'b.txt' }),
    );
    const names = [
      { path: 'a.txt', size: 3 },
      { path: 'b.txt', size: 3 },
    ];
    expect(slotOf(state, 0)).toMatchObject({ files: names, filesWritten: 2, filesBytes: 6 });
    expect(state.totals.filesBytes).toBe(6);
  });

  it('[F9] usage and cost add up in slots, runs and sessions, and unknown costs are counted', () => {
    const story = new Story().request().start(0).usage(0, 10, 1, 0.5).usage(0, 20, 2).start(1, { parent: 0 });
    story.usage(1, 300, 30, 0.25).end(1).end(0).done({ input_tokens: 330, output_tokens: 33 });
    story.request().start(0).usage(0, 4000, 400, 1).end(0).done({ input_tokens: 4000, output_tokens: 400 });
    const state = fold(story);
    const [first, second] = state.runs;
    expect(first?.slots[0]?.usage).toMatchObject({
      inputTokens: 30,
      costUsd: 0.5,
      requests: 2,
      requestsWithoutCost: 1,
    });
    expect(first?.totals.usage).toMatchObject({ inputTokens: 330, outputTokens: 33, costUsd: 0.75 });
    expect(second?.totals.usage).toMatchObject({ inputTokens: 4000, requestsWithoutCost: 0 });
    expect(state.totals).toMatchObject({ turns: 3, turnsFailed: 0, usage: { inputTokens: 4330, costUsd: 1.75 } });
    expect(state.gaps).toEqual([]);
  });

  it('[F11] runs follow each other: ids begin at 0 again, and each run keeps its slots', () => {
    const story = new Story();
    for (const word of ['one', 'two', 'three']) {
      story.request({ request_id: word }).start(0).say('text', 0, { delta: word }).end(0).done({ request_id: word });
    }
    const state = fold(story);
    expect(state.runs.map(({ requestId, slots }) => [requestId, slots.map(({ text }) => text.tail)])).toEqual([
      ['one', ['one']],
      ['two', ['two']],
      ['three', ['three']],
    ]);
    expect(currentRun(state)).toBeUndefined();
    expect(currentRun(fold(story.request({ request_id: 'four' })))?.requestId).toBe('four');
    expect(state.gaps).toEqual([]);
  });

  it('[F11] a failed run has the error of its done, else the one reported before it', () => {
    const end = { ok: false, stop_reason: 'cancelled' };
    const failed = new Story().request().start(0).end(0, end).runError('out of money', 'budget');
    expect(runOf(fold(failed.done({ ok: false })))).toMatchObject({ state: 'failed', error: 'out of money' });
    const own = new Story()
      .request()
      .start(0)
      .end(0, end)
      .done({ ok: false, error: 'stopped', error_code: 'cancelled' });
    expect(runOf(fold(own))).toMatchObject({ state: 'failed', error: 'stopped', errorCode: 'cancelled' });
  });

  it('[F12] the whole response of a delegated turn replaces missing deltas, and no others', () => {
    const story = new Story().request().start(0).start(1, { parent: 0 }).start(2, { parent: 0 });
    story.say('text', 2, { delta: 'live' }).say('sub_agent_response', 1, { content: 'all' });
    story.say('sub_agent_response', 2, { content: 'live, and more' });
    expect(textsOf(fold(story))).toEqual(['', 'all', 'live']);
  });
});

describe('text', () => {
  it.each([
    [limits.textCharsMax, limits.textCharsMax],
    [limits.textCharsMax + 1, limits.textCharsMax],
  ])('[F7] of %i characters a slot keeps the last %i', (said, kept) => {
    const story = new Story()
      .request()
      .start(0)
      .say('text', 0, { delta: 'x'.repeat(said - 1) });
    const { text } = slotOf(fold(story.say('text', 0, { delta: '!' })), 0);
    expect([text.length, text.tail.length, text.tail.at(-1)]).toEqual([said, kept, '!']);
  });

  it('[F7] as much as asked for is kept, and no half character at its beginning', () => {
    const story = new Story().request().start(0).say('text', 0, { delta: 'a🙂' }).say('text', 0, { delta: 'bc' });
    const tails = [5, 4, 3, 2, 0].map(
      (textCharsMax) => slotOf(fold(story, createSlots({ textCharsMax })), 0).text.tail,
    );
    expect(tails).toEqual(['a🙂bc', '🙂bc', 'bc', 'bc', '']);
  });

  it('[F7] retracted text is removed, and later text takes its position', () => {
    const story = new Story()
      .request()
      .start(0)
      .say('text', 0, { delta: 'kept, not ' })
      .say('text', 0, { delta: 'kept' });
    story.say('text_retract', 0, { from: 6 });
    expect(slotOf(fold(story), 0).text).toMatchObject({ tail: 'kept, ', length: 6 });
    expect(textsOf(fold(story.say('text', 0, { delta: 'new' })))).toEqual(['kept, new']);
    expect(textsOf(fold(story.say('text_retract', 0, { from: 0 })))).toEqual(['']);
  });

  it('[F7] retracting a response longer than the kept text restores the end of the previous one', () => {
    const story = new Story().request().start(0).say('agent_start', 0, { model: 'm', iteration: 1 });
    story.say('text', 0, { delta: 'the first answer' }).say('agent_start', 0, { model: 'm', iteration: 2 });
    for (let count = 0; count < 40; count++) story.say('text', 0, { delta: 'provisional ' });
    story.say('text_retract', 0, { from: 16 }).say('text', 0, { delta: '!' });
    expect(slotOf(fold(story, createSlots({ textCharsMax: 8 })), 0).text).toMatchObject({
      tail: ' answer!',
      length: 17,
    });
  });

  it('[F7] retracted text does not return when its replacement is retracted too', () => {
    const story = new Story().request().start(0).say('text', 0, { delta: 'the old words' });
    story.say('agent_start', 0, { model: 'm', iteration: 2 }).say('text_retract', 0, { from: 4 });
    story.say('text', 0, { delta: 'new words' }).say('text_retract', 0, { from: 8 });
    expect(textsOf(fold(story))).toEqual(['the new ']);
  });

  it('[F7] the tail is the end of the text, whatever was said and taken back', { timeout }, () => {
    const step = fc.oneof(
      fc.record({ say: fc.string({ maxLength: 12 }) }),
      fc.record({ say: fc.string({ maxLength: 12 }) }),
      fc.constant({ settle: true }),
      fc.record({ retract: fc.nat(30) }),
    );
    assertProperty(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (steps, textCharsMax) => {
        const story = new Story().request().start(0);
        let [whole, settled] = ['', 0];
        for (const one of steps) {
          if ('say' in one) {
            whole += one.say;
            story.say('text', 0, { delta: one.say });
          } else if ('settle' in one) {
            settled = whole.length;
            story.say('agent_start', 0, { model: 'm', iteration: 1 });
          } else {
            // As gates do it: an iteration takes back all that it has said.
            whole = whole.slice(0, settled);
            story.say('text_retract', 0, { from: settled });
          }
        }
        const { text } = slotOf(fold(story, createSlots({ textCharsMax })), 0);
        expect(text).toMatchObject({ tail: whole.slice(-textCharsMax), length: whole.length });
      }),
      isLong ? 50_000 : 500,
    );
  });
});

describe('approvals', () => {
  const asking = () => new Story().request().start(0).start(1, { parent: 0, agent: 'tester' }).ask(1, 'toolu_1');

  it('[V140, V141] an approval has its plan, its reason, and its changed input', () => {
    const input = { plan: '# Plan' };
    const asked = { type: 'approval_required', tool: 'ExitPlanMode', tool_use_id: 'toolu_9', input } as const;
    const place = { cursor: '1', seq: 1, ts: 1, stream_id: 0, depth: 0, agent: 'a', thread_id: null };
    const plan = toApproval({ ...place, ...asked, kind: 'plan', reason: 'It is done.' }, NOWHERE);
    expect([plan.kind, plan.reason, planOf(plan), plan.updatedInput]).toEqual(['plan', 'It is done.', '# Plan', null]);
    expect(planOf(toApproval({ ...place, ...asked }, NOWHERE))).toBeNull();
    expect(planOf({ kind: 'plan', input: {} })).toBeNull();
    const updated_input = { plan: '# Other' };
    const resolved = { ...place, ...asked, type: 'approval_resolved', result: 'allow', updated_input } as const;
    expect(resolveApproval([plan], plan, resolved)).toMatchObject([{ input, updatedInput: updated_input }]);
  });

  it('[F10] an approval is open with its whole input, and its turn needs a person', () => {
    const state = fold(asking());
    expect(slotOf(state, 1)).toMatchObject({ state: 'needs_approval', openApprovals: 1, since: at(4) });
    expect(openApprovals(state)).toEqual([
      {
        toolUseId: 'toolu_1',
        tool: 'Bash',
        kind: 'tool',
        reason: null,
        input: { command: 'rm -rf build' },
        sessionId: 'sesn_1',
        requestId: 'req_1',
        streamId: 1,
        threadId: 'thread_1',
        agent: 'tester',
        depth: 1,
        state: 'open',
        askedAt: at(4),
        resolvedAt: null,
        result: null,
        by: null,
        rule: null,
        ruleId: null,
        inputSha256: null,
        updatedInput: null,
      },
    ]);
    expect(nowDoing(slotOf(state, 1))).toBe('needs approval: 1');
    const running = fold(asking().tool(1, 'toolu_1', { tool: 'Bash', input: { command: 'rm -rf build' } }));
    expect(nowDoing(slotOf(running, 1))).toBe('needs approval: Bash: rm -rf build');
  });

  it('[F10] the decision closes it, and the turn continues when none is open', () => {
    const story = asking().ask(1, 'toolu_2').answer(1, 'toolu_1', { result: 'deny', by: 'ann' });
    expect(slotOf(fold(story), 1)).toMatchObject({ state: 'needs_approval', openApprovals: 1 });
    const state = fold(story.answer(1, 'toolu_2'));
    expect(slotOf(state, 1)).toMatchObject({ state: 'running', openApprovals: 0 });
    expect(runOf(state).approvals).toMatchObject([
      { state: 'resolved', result: 'deny', by: 'ann', resolvedAt: at(6) },
      { state: 'resolved', result: null, by: null },
    ]);
    expect(openApprovals(state)).toEqual([]);
  });

  it('[V112] a decision keeps its rule and the hash of its input, where the stream has them', () => {
    const facts = {
      result: 'allow',
      by: 'ann',
      rule: 'Bash(command: rm *)',
      rule_id: 'rule_1',
      input_sha256: '74234e98',
    };
    const story = asking().ask(1, 'toolu_2').answer(1, 'toolu_1', facts).answer(1, 'toolu_2', { result: 'allow' });
    expect(runOf(fold(story)).approvals).toMatchObject([
      { by: 'ann', rule: 'Bash(command: rm *)', ruleId: 'rule_1', inputSha256: '74234e98' },
      { by: null, rule: null, ruleId: null, inputSha256: null },
    ]);
  });

  it('[F10] a repeated request is one approval, and a decision without an approval changes nothing', () => {
    const state = fold(asking().ask(1, 'toolu_1').answer(1, 'toolu_9'));
    expect(slotOf(state, 1).openApprovals).toBe(1);
    expect(openApprovals(state)).toHaveLength(1);
  });

  it('[F10] a turn that ends withdraws its approvals, unless it ended to wait for the decision', () => {
    expect(runOf(fold(asking().end(1))).approvals).toMatchObject([{ state: 'withdrawn' }]);
    expect(openApprovals(fold(asking().end(1, { stop_reason: 'requires_action' })))).toHaveLength(1);
  });

  it('[F52] an approval that needs no decision any more is withdrawn, with what withdrew it', () => {
    const state = fold(asking().answer(1, 'toolu_1', { result: 'withdrawn', by: 'cancel' }));
    expect(openApprovals(state)).toEqual([]);
    expect(slotOf(state, 1)).toMatchObject({ state: 'running', openApprovals: 0 });
    expect(runOf(state).approvals).toMatchObject([{ state: 'withdrawn', result: 'withdrawn', by: 'cancel' }]);
  });

  it('[F10] an approval of an earlier run is answered there', () => {
    const story = asking().end(1, { stop_reason: 'requires_action' }).end(0).done().request({ request_id: 'req_2' });
    const state = fold(story.answer(1, 'toolu_1', { result: 'allow' }));
    expect(state.runs[0]?.approvals).toMatchObject([{ state: 'resolved', result: 'allow' }]);
    expect(state.runs[1]?.slots).toEqual([]);
    expect(state.gaps).toEqual([]);
  });
});

describe('reading again', () => {
  it('[F12] folding a part, saving it as JSON and folding the rest equals folding the whole', { timeout }, () => {
    assertProperty(
      fc.property(wildStories, fc.nat(), (events, cut) => {
        const k = cut % (events.length + 1);
        const whole = events.reduce(foldSlots, createSlots({ textCharsMax: 16 }));
        const part = events.slice(0, k).reduce(foldSlots, createSlots({ textCharsMax: 16 }));
        const saved: SessionSlots = JSON.parse(JSON.stringify(part));
        expect(saved).toEqual(part);
        expect(events.slice(k).reduce(foldSlots, saved)).toEqual(whole);
      }),
      isLong ? 10_000 : 300,
    );
  });

  it('[F13] events that come again change nothing, wherever they come again', { timeout }, () => {
    assertProperty(
      fc.property(wildStories, fc.nat(), fc.nat(), (events, cut, back) => {
        const k = cut % (events.length + 1);
        const first = events.slice(0, k).reduce(foldSlots, createSlots());
        const again = events.slice(Math.max(0, k - (back % 20)), k).reduce(foldSlots, first);
        expect(again).toBe(first);
        const whole = events.reduce(foldSlots, createSlots());
        expect([...events.slice(0, k), ...events].reduce(foldSlots, createSlots())).toEqual(whole);
      }),
      isLong ? 10_000 : 200,
    );
  });

  it('[F13] events of another session change nothing', () => {
    const mine = fold(new Story('sesn_1').request().start(0));
    const other = new Story('sesn_2').request().start(0).say('text', 0, { delta: 'x' }).events;
    expect(renumber(other, 100).reduce(foldSlots, mine)).toBe(mine);
  });

  it('[F13] events without a cursor are all taken', () => {
    const events = new Story().request().start(0).say('text', 0, { delta: 'a' }).say('text', 0, { delta: 'a' }).events;
    const state = events.map((event) => ({ ...event, cursor: '' })).reduce(foldSlots, createSlots());
    expect([textsOf(state), state.cursor]).toEqual([['aa'], null]);
  });

  it('[F15] a reader that joins in the middle sees the turns in progress, and no gaps are reported', () => {
    const story = new Story()
      .request()
      .start(0)
      .start(1, { parent: 0, agent: 'scout' })
      .say('text', 1, { delta: 'old ' });
    story.say('text', 1, { delta: 'new' }).end(1).start(2, { parent: 0 }).end(2).end(0).done();
    const state = story.events.slice(4).reduce(foldSlots, createSlots());
    expect(runOf(state)).toMatchObject({ requestId: 'req_1', state: 'ok', isWhole: false });
    expect(runOf(state).slots).toMatchObject([
      { streamId: 1, agent: 'scout', depth: 1, task: null, startedAt: null, state: 'ok', text: { tail: 'new' } },
      { streamId: 2, state: 'ok' },
      { streamId: 0, state: 'ok' },
    ]);
    expect(state.gaps).toEqual([]);
  });

  it.each<[GapReason, (story: Story) => Story]>([
    ['reported', (story) => story.event('gap', { after: '2', until: '7' })],
    ['run_not_started', (story) => story.end(0).done().say('text', 0, { delta: 'x' })],
    ['run_not_ended', (story) => story.request({ request_id: 'req_2' })],
    ['stream_not_started', (story) => story.say('text', 1, { delta: 'x' })],
    ['stream_reused', (story) => story.start(0)],
    ['stream_reused', (story) => story.end(0).end(0, { ok: false })],
    ['stream_not_ended', (story) => story.done()],
    ['streams_missing', (story) => story.start(2, { parent: 0 }).end(2).end(0).done()],
    ['text_missing', (story) => story.say('text_retract', 0, { from: 1 })],
    ['totals_differ', (story) => story.end(0).done({ input_tokens: 1 })],
    ['totals_differ', (story) => story.end(0).done({ output_tokens: 1 })],
  ])('[F14] a gap is reported with its position: %s', (reason, toStory) => {
    const story = toStory(new Story().request().start(0));
    const cursors = story.events.map(({ cursor }) => cursor);
    expect(fold(story)).toMatchObject({
      gaps: [{ reason, cursor: cursors.at(-1), after: cursors.at(-2) }],
      gapCount: 1,
    });
  });

  it('[F14] the first end of a turn counts: a second one changes neither it nor its parent', () => {
    const story = new Story().request().start(0).start(1, { parent: 0 }).start(2, { parent: 0 }).end(1);
    const state = fold(story.end(1, { ok: false, stop_reason: 'error' }));
    expect(slotOf(state, 1)).toMatchObject({ state: 'ok', stopReason: 'end_turn' });
    expect(slotOf(state, 0).openChildren).toBe(1);
  });

  it('[F14] one gap is not reported again as others', () => {
    const story = new Story().request().start(0).say('text', 2, { delta: 'x' }).end(2).end(0).done({ input_tokens: 9 });
    expect(fold(story).gaps.map(({ reason }) => reason)).toEqual(['stream_not_started']);
  });

  it('[F14] turns and runs whose end was not seen are lost, not running', () => {
    const story = new Story().request().start(0).ask(0, 'toolu_1').start(1, { parent: 0 }).end(1).done();
    expect(runOf(fold(story)).slots.map(({ state }) => state)).toEqual(['lost', 'ok']);
    expect(openApprovals(fold(story))).toEqual([]);
    const next = fold(new Story().request().start(0).request({ request_id: 'req_2' }));
    expect(next.runs.map(({ state, isWhole }) => [state, isWhole])).toEqual([
      ['lost', false],
      ['running', true],
    ]);
    expect(next.runs[0]?.slots[0]?.state).toBe('lost');
  });

  it('[F14] streams whose children begin out of order miss nothing', () => {
    const story = new Story().request().start(0).start(2, { parent: 0 }).start(1, { parent: 0 });
    const state = fold(
      story.say('text', 1, { delta: 'one' }).say('text', 2, { delta: 'two' }).end(1).end(2).end(0).done(),
    );
    expect(runOf(state).slots.map(({ text }) => text.tail)).toEqual(['', 'two', 'one']);
    expect(state.gaps).toEqual([]);
  });

  it('[F2] events that are not known are counted, and the reason for the end is kept', () => {
    const state = fold(new Story().event('brand_new', { stream_id: 1 }).event('over', { reason: 'deleted' }));
    expect(state).toMatchObject({ unknownEvents: 1, over: 'deleted', gapCount: 0, runs: [] });
  });
});

describe('identity and cost', () => {
  it('[F16] parts of the state that an event does not concern stay the same objects', () => {
    const story = new Story().request().start(0).end(0).done().request().start(0).start(1, { parent: 0 });
    const before = fold(story);
    const after = fold(story.say('text', 1, { delta: 'x' }), before);
    expect(after.runs[0]).toBe(before.runs[0]);
    expect(after.runs[1]?.slots[0]).toBe(before.runs[1]?.slots[0]);
    expect(after.runs[1]?.slots[1]).not.toBe(before.runs[1]?.slots[1]);
    expect(after.totals).toBe(before.totals);
    expect(after.gaps).toBe(before.gaps);
    expect(after.runs[1]?.approvals).toBe(before.runs[1]?.approvals);
    expect(after.runs[1]?.slots[1]?.tools).toBe(before.runs[1]?.slots[1]?.tools);
  });

  it('[F16] no state is changed by going on from it', { timeout }, () => {
    assertProperty(
      fc.property(wildStories, (events) => {
        const frozen = events.reduce((state, event) => deepFreeze(foldSlots(state, event)), deepFreeze(createSlots()));
        expect(frozen).toEqual(events.reduce(foldSlots, createSlots()));
      }),
      isLong ? 2_000 : 50,
    );
  });

  it('[F17] thirty thousand deltas for a hundred slots, ten seconds of a large fleet, fold within two', () => {
    const story = new Story().request();
    for (let id = 0; id < 100; id++) story.start(id, id === 0 ? {} : { parent: 0 });
    const state = fold(story);
    const deltas = Array.from({ length: 30_000 }, (_, index) => {
      const id = `${story.events.length + 1 + index}`;
      const data = { ...stream(index % 100), ts: at(index), delta: 'and so it goes, ' };
      return parseFleetEvent({ event: 'text', id, data: JSON.stringify(data) });
    });
    const start = process.cpuUsage();
    const end = deltas.reduce(foldSlots, state);
    const { user, system } = process.cpuUsage(start);
    expect(end.runs[0]?.slots[99]?.text.length).toBe(300 * 16);
    expect((user + system) / 1e6).toBeLessThan(2);
  });
});

describe('layout', () => {
  it('[F18] rows are a tree: each turn, then the turns it started, children of a block in their order', () => {
    const story = new Story().request().start(0);
    // Two blocks of the master, the first started out of order, and a delegation by the first child.
    story
      .start(1, { parent: 0, index: 1 })
      .start(2, { parent: 0, index: 0 })
      .start(3, { parent: 2, index: 0, depth: 2 });
    story.usage(3, 1, 1).usage(2, 10, 1).usage(1, 100, 1).usage(0, 1000, 1).end(3).end(2).end(1);
    story.start(4, { parent: 0, index: 0 }).start(5, { parent: 0, index: 1 }).usage(5, 10_000, 1);
    const rows = layoutRun(runOf(fold(story)));
    expect(
      rows.map(({ slot, level, isLast, usage, openBelow }) => [
        slot.streamId,
        level,
        isLast,
        usage.inputTokens,
        openBelow,
      ]),
    ).toEqual([
      [0, 0, true, 11_111, 2],
      [2, 1, false, 11, 0],
      [3, 2, true, 1, 0],
      [1, 1, false, 100, 0],
      [4, 1, false, 0, 0],
      [5, 1, true, 10_000, 0],
    ]);
  });

  it('[F18] a turn with an unknown parent is at the top with its depth, and cycles are impossible', () => {
    const story = new Story().request().start(0).start(1, { parent: 7, depth: 2 }).start(2, { parent: 2 });
    const rows = layoutRun(runOf(fold(story)));
    expect(rows.map(({ slot, level }) => [slot.streamId, level])).toEqual([
      [0, 0],
      [1, 2],
      [2, 1],
    ]);
  });
});

describe('a fleet', () => {
  it('[F19] each event goes to its session, as if that were alone', { timeout }, () => {
    assertProperty(
      fc.property(wildStories, wildStories, fc.array(fc.boolean(), { maxLength: 200 }), (first, second, turns) => {
        const queues = [
          first.map((event) => ({ ...event, session_id: 'sesn_1' })),
          second.map((event) => ({ ...event, session_id: 'sesn_2' })),
        ];
        const merged: FleetEvent[] = [];
        for (const turn of [...turns, ...Array.from({ length: first.length + second.length }, (_, i) => i % 2 === 0)]) {
          const event = queues[turn ? 0 : 1]?.shift() ?? queues[turn ? 1 : 0]?.shift();
          if (event) merged.push(event);
        }
        const events = renumber(merged, 0);
        const fleet = events.reduce(foldFleet, createFleet());
        for (const id of ['sesn_1', 'sesn_2']) {
          const own = events.filter((event) => event.session_id === id);
          const alone = own.reduce(foldSlots, createSlots());
          if (own.length > 0) expect(findSession(fleet, id)).toEqual({ ...alone, sessionId: id });
        }
        const saved: Fleet = JSON.parse(JSON.stringify(fleet));
        expect(saved).toEqual(fleet);
        expect(events.reduce(foldFleet, saved)).toBe(saved);
      }),
      isLong ? 5_000 : 100,
    );
  });

  it('[F19] a session keeps its object identity while others change, and the totals include all', () => {
    const [one, two] = [new Story('sesn_1').request().start(0), new Story('sesn_2').request().start(0).usage(0, 5, 1)];
    const events = renumber([...one.events, ...two.events], 0);
    const before = events.slice(0, 3).reduce(foldFleet, createFleet());
    const fleet = events.slice(3).reduce(foldFleet, before);
    expect(fleet.sessions[0]).toBe(before.sessions[0]);
    expect(fleet).toMatchObject({ cursor: '5', totals: { turns: 2, usage: { inputTokens: 5 } }, sessionsDropped: 0 });
    expect(findSession(fleet, 'sesn_9')).toBeUndefined();
  });

  it('[F19] two ways on from one state do not disturb each other', () => {
    const begin = (id: string) => new Story(id).request().start(0).say('text', 0, { delta: id }).events;
    const base = renumber(begin('sesn_1'), 0).reduce(foldFleet, createFleet());
    const two = renumber(begin('sesn_2'), 10).reduce(foldFleet, base);
    const three = renumber([...begin('sesn_3'), ...begin('sesn_2')], 10).reduce(foldFleet, base);
    const ids = (fleet: Fleet) => fleet.sessions.map(({ sessionId }) => sessionId);
    expect([base, two, three].map(ids)).toEqual([['sesn_1'], ['sesn_1', 'sesn_2'], ['sesn_1', 'sesn_3', 'sesn_2']]);
    for (const session of three.sessions) expect(textsOf(session)).toEqual([session.sessionId]);
    expect(findSession(base, 'sesn_2')).toBeUndefined();
  });

  it('[F19] gaps and other events without a session are counted', () => {
    const story = new Story().event('gap', { after: '1', until: '2' }).event('over', { reason: 'x' });
    const events = story.events.map((event) =>
      parseFleetEvent({ ...frameOf(event), data: '{"after":"","until":"","reason":""}' }),
    );
    expect(events.reduce(foldFleet, createFleet())).toMatchObject({ gapCount: 1, unplacedEvents: 1, sessions: [] });
  });

  it('[F20] of more sessions than the limit the idle one goes that was quiet longest', () => {
    const requests = Array.from({ length: limits.sessionsMax + 1 }, (_, index) => {
      const story = new Story(`sesn_${index}`).request();
      return index < 2 || index === 5 ? story.done() : story;
    });
    const events = renumber(
      requests.flatMap((story) => story.events),
      0,
    );
    const full = events.slice(0, -1).reduce(foldFleet, createFleet());
    expect([full.sessions.length, full.sessionsDropped]).toEqual([limits.sessionsMax, 0]);
    const over = events.slice(-1).reduce(foldFleet, full);
    expect([over.sessions.length, over.sessionsDropped]).toEqual([limits.sessionsMax, 1]);
    expect(findSession(over, 'sesn_0')).toBeUndefined();
    expect(findSession(over, 'sesn_1')?.sessionId).toBe('sesn_1');
    expect(findSession(over, `sesn_${limits.sessionsMax}`)?.sessionId).toBe(`sesn_${limits.sessionsMax}`);
  });
});

describe('limits', () => {
  it('[F20] of more tools than the limit the oldest finished goes', () => {
    const story = new Story().request().start(0).tool(0, 'first', { tool: 'Long', input: 0 });
    for (let index = 1; index < limits.toolsMax; index++) story.tool(0, `t${index}`).toolEnd(0, `t${index}`);
    expect(slotOf(fold(story), 0).tools).toHaveLength(limits.toolsMax);
    const slot = slotOf(fold(story.tool(0, 'last')), 0);
    expect(slot.tools).toHaveLength(limits.toolsMax);
    expect(slot.tools.map(({ toolUseId }) => toolUseId).slice(0, 2)).toEqual(['first', 't2']);
    expect(slot.toolsStarted).toBe(limits.toolsMax + 1);
  });

  it('[F20] of more files than the limit the newest stay', () => {
    const story = new Story().request().start(0);
    for (let index = 0; index <= limits.filesMax; index++) {
      story.say('file', 0, { path: `${index}`, size: 1, encoding: 'utf8', content: '' });
    }
    const { files, filesWritten } = slotOf(fold(story), 0);
    expect([files.length, files[0]?.path, filesWritten]).toEqual([limits.filesMax, '1', limits.filesMax + 1]);
  });

  it('[F20] of more slots than the limit the one that ended first goes, and the totals keep it', () => {
    const story = new Story().request().start(0);
    for (let id = 1; id < limits.slotsPerRunMax; id++) story.start(id, { parent: 0 }).usage(id, 1, 1).end(id);
    const full = runOf(fold(story));
    expect([full.slots.length, full.slotsDropped]).toEqual([limits.slotsPerRunMax, 0]);
    const id = limits.slotsPerRunMax;
    story.start(id, { parent: 0 }).say('text', id, { delta: 'here' });
    const over = runOf(fold(story));
    expect([over.slots.length, over.slotsDropped, over.slots[0]?.streamId, over.slots[1]?.streamId]).toEqual([
      id,
      1,
      0,
      2,
    ]);
    expect(over.slots.at(-1)?.text.tail).toBe('here');
    expect(over.totals.usage.requests).toBe(id - 1);
  });

  it('[F20] of more runs than the limit the newest stay', () => {
    const story = new Story();
    for (let index = 0; index < limits.runsMax; index++)
      story.request({ request_id: `${index}` }).done({ request_id: `${index}` });
    expect(fold(story)).toMatchObject({ runsDropped: 0, runs: { length: limits.runsMax } });
    const state = fold(story.request({ request_id: 'new' }).start(0));
    expect(state).toMatchObject({ runsDropped: 1, runs: { length: limits.runsMax } });
    expect([state.runs[0]?.requestId, currentRun(state)?.requestId]).toEqual(['1', 'new']);
  });

  it('[F20] of more answered approvals than the limit the newest stay, and open ones all', () => {
    const story = new Story().request().start(0).ask(0, 'open');
    for (let index = 0; index <= limits.answeredApprovalsMax; index++) story.ask(0, `${index}`).answer(0, `${index}`);
    const ids = runOf(fold(story)).approvals.map(({ toolUseId }) => toolUseId);
    expect([ids.length, ids[0], ids[1]]).toEqual([limits.answeredApprovalsMax + 1, 'open', '1']);
  });

  it('[F20] of more gaps than the limit the newest stay, and all are counted', () => {
    const story = new Story();
    for (let index = 0; index <= limits.gapsMax; index++) story.event('gap', { after: `${index}`, until: '' });
    const { gaps, gapCount } = fold(story);
    expect([gaps.length, gaps[0]?.cursor, gapCount]).toEqual([limits.gapsMax, '2', limits.gapsMax + 1]);
  });

  it.each([
    [limits.labelCharsMax, 'é'.repeat(limits.labelCharsMax)],
    [limits.labelCharsMax + 1, `${'é'.repeat(limits.labelCharsMax - 1)}…`],
    [1_000_000, `${'é'.repeat(limits.labelCharsMax - 1)}…`],
  ])('[F20] a label of %i characters is cut at the limit', (length, label) => {
    const story = new Story()
      .request()
      .start(0)
      .tool(0, 'a', { tool: 'T', input: { path: 'é'.repeat(length) } });
    expect(slotOf(fold(story), 0).tools[0]?.label).toBe(label);
  });

  it('[F20] the activity of a growing text is its last characters', () => {
    const story = new Story()
      .request()
      .start(0)
      .say('text', 0, { delta: `${'🙂'.repeat(limits.doingCharsMax)}!` });
    expect(nowDoing(slotOf(fold(story), 0))).toBe(`${'🙂'.repeat(limits.doingCharsMax - 1)}!`);
  });
});

// --- stories ---

/** Builds the events of a session, with numbers and times. Each is parsed like one from the wire. */
class Story {
  readonly events: FleetEvent[] = [];
  readonly #session: string;
  readonly #agents = new Map<number, string>();

  constructor(session = 'sesn_1') {
    this.#session = session;
  }

  make(event: string, fields: object): FleetEvent {
    const number = this.events.length + 1;
    const data = { session_id: this.#session, seq: number, ts: at(number), ...fields };
    return parseFleetEvent({ event, id: `${number}`, data: JSON.stringify(data) });
  }

  event(event: string, fields: object): this {
    this.events.push(this.make(event, fields));
    return this;
  }

  #known(event: KnownFleetEvent['type'], fields: object): this {
    const made = this.make(event, fields);
    if (made.type === 'unknown') throw new Error(`${event}: ${made.problem}`);
    this.events.push(made);
    return this;
  }

  say(event: KnownFleetEvent['type'], id: number, fields: object): this {
    const agent = this.#agents.get(id) ?? `agent_${id}`;
    return this.#known(event, { ...stream(id), agent, ...fields });
  }

  request(fields: object = {}): this {
    return this.#known('request_received', { request_id: 'req_1', agent: 'index', message: 'go', ...fields });
  }

  start(id: number, { parent = null, index = null, ...fields }: StartFields = {}): this {
    const place = { parent_stream_id: parent, child_index: index };
    if (typeof fields['agent'] === 'string') this.#agents.set(id, fields['agent']);
    return this.say('stream_start', id, { ...place, task: '', model: 'm', ...fields });
  }

  end(id: number, fields: object = {}): this {
    return this.say('stream_end', id, { ok: true, stop_reason: 'end_turn', ...fields });
  }

  tool(id: number, toolUseId: string, fields: object = { tool: 'T', input: null }): this {
    return this.say('tool_start', id, { tool_use_id: toolUseId, ...fields });
  }

  toolEnd(id: number, toolUseId: string, { ms = 1, ...fields }: { ms?: number; [field: string]: unknown } = {}): this {
    return this.say('tool_call', id, { tool_use_id: toolUseId, tool: 'T', ok: true, duration_ms: ms, ...fields });
  }

  ask(id: number, toolUseId: string): this {
    return this.say('approval_required', id, { ...approval, tool_use_id: toolUseId });
  }

  answer(id: number, toolUseId: string, fields: object = {}): this {
    return this.say('approval_resolved', id, { ...approval, tool_use_id: toolUseId, ...fields });
  }

  usage(id: number, input: number, output: number, cost?: number): this {
    const tokens = { input_tokens: input, output_tokens: output };
    return this.say('token_usage', id, { model: 'm', ...tokens, ...(cost === undefined ? {} : { cost_usd: cost }) });
  }

  runError(message: string, code: string): this {
    return this.#known('error', { message, code });
  }

  done(fields: object = {}): this {
    const totals = { input_tokens: 0, output_tokens: 0, files_bytes: 0, duration_ms: 1 };
    return this.#known('done', { ok: true, request_id: 'req_1', content: '', ...totals, ...fields });
  }
}

interface StartFields {
  parent?: number | null;
  index?: number | null;
  [field: string]: unknown;
}

const approval = { tool: 'Bash', input: { command: 'rm -rf build' } };

function stream(id: number): object {
  return { stream_id: id, depth: id === 0 ? 0 : 1, agent: `agent_${id}`, thread_id: `thread_${id}` };
}

function at(number: number): number {
  return 1_000_000 + number * 10;
}

function fold(story: Story, state = createSlots()): SessionSlots {
  return story.events.reduce(foldSlots, state);
}

function runOf(state: SessionSlots): Run {
  const run = state.runs.at(-1);
  if (run === undefined) throw new Error('there is no run');
  return run;
}

function slotOf(state: SessionSlots, id: number): Slot {
  const slot = runOf(state).slots.find(({ streamId }) => streamId === id);
  if (slot === undefined) throw new Error(`there is no slot ${id}`);
  return slot;
}

function textsOf(state: SessionSlots): string[] {
  return runOf(state).slots.map(({ text }) => text.tail);
}

function renumber(events: readonly FleetEvent[], after: number): FleetEvent[] {
  return events.map((event, index) => ({ ...event, cursor: `${after + index + 1}` }));
}

/** What the event was on the wire, without its data. */
function frameOf({ type: event, cursor: id }: FleetEvent): { event: string; id: string } {
  return { event, id };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

/** The sequence of the documentation, gated as it says. */
function documentedExample(): Story {
  const story = new Story().request().start(0).say('text', 0, { delta: '→ delegating: 3 in parallel\n' });
  for (const id of [1, 2, 3]) story.start(id, { parent: 0, index: id - 1 });
  for (const id of [3, 2, 1]) story.say('agent_start', id, { model: 'm', iteration: 1 });
  story.say('text', 3, { delta: 'RESULT: Rome' }).say('text', 2, { delta: 'RESULT: Berlin' });
  story.say('text', 1, { delta: 'RESULT: Paris' });
  const tokens: [id: number, input: number, output: number][] = [
    [3, 842, 126],
    [2, 910, 143],
    [1, 803, 131],
  ];
  for (const [id, input, output] of tokens) {
    story.say('sub_agent_response', id, { content: 'RESULT' }).usage(id, input, output).end(id);
  }
  story.toolEnd(0, 'toolu_1', { tool: 'parallel' }).usage(0, 1240, 210);
  story.say('text', 0, { delta: 'Paris, Berlin, and Rome' }).end(0);
  return story.done({ content: 'Paris, Berlin, and Rome', input_tokens: 3795, output_tokens: 610 });
}

/** Any events in any order, the impossible included: what holds for these holds for every stream. */
const wildStories = fc
  .array(fc.tuple(fc.nat(13), fc.nat(3), fc.string({ maxLength: 6 }), fc.nat(20)), { maxLength: 60 })
  .map((steps) => {
    const story = new Story();
    for (const [kind, id, word, number] of steps) {
      const kinds: (() => Story)[] = [
        () => story.request({ request_id: word }),
        () => story.start(id, id === 0 ? {} : { parent: number % 4, index: number % 3 }),
        () => story.say('text', id, { delta: word }),
        () => story.say('text', id, { delta: word.repeat(3) }),
        () => story.say('text_retract', id, { from: number }),
        () => story.say('agent_start', id, { model: word, iteration: number }),
        () => story.tool(id, `t${number % 3}`, { tool: word, input: { command: word } }),
        () => story.toolEnd(id, `t${number % 3}`, { ok: number % 2 === 0 }),
        () => story.ask(id, `t${number % 3}`),
        () => story.answer(id, `t${number % 3}`, { result: word }),
        () => story.usage(id, number, 1, number / 7),
        () => story.end(id, { ok: number % 3 > 0, stop_reason: number % 5 === 0 ? 'requires_action' : 'end_turn' }),
        () => story.done({ ok: number % 2 === 0 }),
        () => story.event(number % 2 === 0 ? 'gap' : 'novelty', { after: '', until: '' }),
      ];
      kinds[kind]?.();
    }
    return story.events;
  });

const NOWHERE = { sessionId: null, requestId: null };
