import { type FleetEvent, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { describe, expect, it } from 'vitest';
import { viewLimits } from '../limits.ts';
import type { FramePayloads, FrameType, SessionFrame } from '../../frames/frames.ts';
import { encodeEvents } from './encoded-event.ts';
import { FleetView, type FleetViewOptions } from './fleet-view.ts';

const turn = { streamId: 0, depth: 0, run: 'req_1' };

/** A view in the middle of a turn, and what it makes of further frames. */
function openView({ model = 'scripted/lead', ...options }: Partial<FleetViewOptions> & { model?: string } = {}) {
  const view = new FleetView({ gate: 'off', includeThinking: false, ...options });
  let seq = 0;
  const take = <Type extends FrameType>(
    type: Type,
    payload: Partial<FramePayloads[Type]>,
    place: object = { turn },
  ) => {
    // What the view does not look at is left out.
    const frame = { sessionId: 'sesn_1', threadId: 'sthr_1', time: seq, seq: ++seq, type, payload, ...place };
    const events = encodeEvents(frame, view.take(frame as unknown as SessionFrame));
    const items = new SseDecoder().push(Buffer.concat(events.map(({ bytes }) => bytes)));
    return items.flatMap((item) => (item.type === 'event' ? [parseFleetEvent(item)] : []));
  };
  const agent = { model: { id: model } } as FramePayloads['session.created']['agent'];
  take('session.created', { agent, depth_max: 2, members: [], text_commands: true }, { turn: null });
  take('run.started', { agent_name: 'lead', message: 'Go' });
  take('turn.started', { agent_name: 'lead', model: 'm', task: 'Go', parent_stream_id: null, child_index: null });
  return { view, take };
}

/** What a reader has in the end of the turn. */
function seenIn(events: readonly FleetEvent[]) {
  const seen = { text: '', thinking: '' };
  for (const event of events) {
    if (event.type === 'text' || event.type === 'thinking') seen[event.type] += event.delta;
    if (event.type === 'text_retract') seen.text = seen.text.slice(0, event.from);
    if (event.type === 'thinking_retract') seen.thinking = seen.thinking.slice(0, event.from);
  }
  return seen;
}

describe('the fleet view', () => {
  it('[V62] a limited number of files of a run is emitted, and all are counted', () => {
    const { take } = openView();
    const write = (id: string, content: string) => {
      const input = { file_path: id, content };
      take('agent.tool_use', { id, name: 'write', input, kind: 'builtin', evaluated_permission: 'allow' });
      return take('agent.tool_result', { tool_use_id: id, content: [], is_error: false, is_interrupted: false });
    };
    expect(write('a', 'x'.repeat(viewLimits.runFilesBytesMax)).map(({ type }) => type)).toEqual(['tool_call', 'file']);
    expect(write('b', 'y').map(({ type }) => type)).toEqual(['tool_call']);
    const [done] = take('run.ended', { ok: true, stop_reason: 'end_turn', error: null, content: '' });
    expect(done).toMatchObject({ type: 'done', files_bytes: viewLimits.runFilesBytesMax + 1 });
  });

  it('[V63] text without deltas is emitted when it is whole, and text with deltas is not emitted again', () => {
    const { take } = openView();
    expect(take('delta.text', { id: 'sevt_1', text: 'one ' })).toMatchObject([{ type: 'text', delta: 'one ' }]);
    expect(take('agent.message', { id: 'sevt_1', content: [{ type: 'text', text: 'one ' }] })).toEqual([]);
    const whole = take('agent.message', { id: 'sevt_2', content: [{ type: 'text', text: 'two' }] });
    expect(whole).toMatchObject([{ type: 'text', delta: 'two' }]);
  });

  it('[R277] a decision in an older log, which has neither a rule nor a hash of the input, is emitted without them', () => {
    const { take } = openView();
    const use = { id: 'sevt_1', name: 'bash', input: { command: 'ls' } };
    take('agent.tool_use', { ...use, kind: 'builtin', evaluated_permission: 'ask' });
    const [events] = take('user.tool_confirmation', { tool_use_id: 'sevt_1', result: 'deny', deny_message: null });
    expect(events).toMatchObject({ type: 'approval_resolved', result: 'deny', by: 'client', input: { command: 'ls' } });
    expect([events && 'rule' in events, events && 'input_sha256' in events]).toEqual([false, false]);
  });

  it('[V140] an approval is required when the program requests it, with the input shown then, and never for a call that it refuses', () => {
    const { take } = openView();
    const use = { kind: 'builtin', evaluated_permission: 'ask', approval: 'on_request', input: {} } as const;
    const refused = { content: [{ type: 'text', text: 'no' }], is_error: true, is_interrupted: false } as const;
    expect(take('agent.tool_use', { ...use, id: 'sevt_1', name: 'ExitPlanMode' })).toEqual([]);
    const input = { plan: '# Plan' };
    expect(
      take('approval.requested', { tool_use_id: 'sevt_1', kind: 'plan', reason: 'It is done.', input }),
    ).toMatchObject([{ type: 'approval_required', tool_use_id: 'sevt_1', input, kind: 'plan', reason: 'It is done.' }]);
    const decided = { tool_use_id: 'sevt_1', result: 'allow', deny_message: null } as const;
    expect(take('user.tool_confirmation', decided)).toMatchObject([
      { type: 'approval_resolved', input },
      { type: 'tool_start', input },
    ]);

    expect(take('agent.tool_use', { ...use, id: 'sevt_2', name: 'Bash' })).toEqual([]);
    const closing = { closes_ask: 'sevt_2', closed_by: 'not_requested' } as const;
    const ended = take('agent.tool_result', { tool_use_id: 'sevt_2', ...refused, ...closing });
    expect(ended).toMatchObject([{ type: 'tool_call', tool_use_id: 'sevt_2', ok: false, error: 'no' }]);
  });

  it('[V142] a call whose result the client sends is marked when it starts, whether or not the program has requested approval', () => {
    const { take } = openView();
    const use = { call_id: 'c', name: 'AskUserQuestion', input: { questions: [] } } as const;
    const started = { type: 'tool_start', tool: 'AskUserQuestion', input: { questions: [] }, awaits_result: true };
    expect(take('agent.custom_tool_use', { ...use, id: 'sevt_1' })).toMatchObject([started]);
    expect(take('agent.custom_tool_use', { ...use, id: 'sevt_2', approval: 'on_request' })).toMatchObject([started]);
    expect(take('approval.requested', { tool_use_id: 'sevt_2', kind: 'question', reason: null })).toEqual([]);
    const [other] = take('agent.tool_use', {
      id: 'sevt_3',
      name: 'bash',
      input: {},
      kind: 'builtin',
      evaluated_permission: 'allow',
    });
    expect(other).not.toHaveProperty('awaits_result');
  });

  it('[V141] a call that is allowed with another input starts with that one, and the answer has both', () => {
    const { take } = openView();
    const input = { file_path: 'a', content: 'one' };
    const updated_input = { file_path: 'a', content: 'two' };
    take('agent.tool_use', { id: 'sevt_1', name: 'write', input, kind: 'builtin', evaluated_permission: 'ask' });
    const decided = { tool_use_id: 'sevt_1', result: 'allow', deny_message: null, updated_input } as const;
    expect(take('user.tool_confirmation', decided)).toMatchObject([
      { type: 'approval_resolved', input, updated_input },
      { type: 'tool_start', input: updated_input },
    ]);
    const result = { tool_use_id: 'sevt_1', content: [], is_error: false, is_interrupted: false };
    expect(take('agent.tool_result', result)).toMatchObject([{ type: 'tool_call' }, { type: 'file', content: 'two' }]);
  });

  it('[V64] the cursors of a frame are its number, and behind it how many came before', () => {
    const { take } = openView();
    take('session.error', { error: { type: 'unknown_error', message: 'x' }, retry: 'exhausted' });
    const events = take('turn.ended', { ok: false, stop_reason: 'error', error: 'x' });
    expect(events.map(({ type, cursor }) => [type, cursor])).toEqual([['stream_end', '5']]);
    const ended = take('run.ended', { ok: false, stop_reason: 'error', error: 'x', content: '' });
    expect(ended.map(({ type, cursor }) => [type, cursor])).toEqual([
      ['error', '6'],
      ['done', '6.1'],
    ]);
    expect(ended).toMatchObject([{ code: 'unknown_error' }, { error_code: 'unknown_error' }]);
  });

  it('[MX202, MX201] output of a running call, and a plan, are on the stream', () => {
    const { take } = openView();
    take('agent.tool_use', {
      id: 'sevt_1',
      call_id: 'c',
      name: 'bash',
      input: {},
      evaluated_permission: 'allow',
    } as never);
    expect(take('delta.output', { id: 'sevt_1', text: 'one' })).toMatchObject([
      { type: 'tool_output', tool: 'bash', tool_use_id: 'sevt_1', delta: 'one' },
    ]);
    const items = [{ text: 'Look', status: 'pending' as const }];
    expect(take('agent.plan', { items })).toMatchObject([{ type: 'plan', items }]);
    take('agent.tool_result', { tool_use_id: 'sevt_1', content: [], is_error: false, is_interrupted: false });
    expect(take('delta.output', { id: 'sevt_1', text: 'late' })).toEqual([]);
  });

  it('[V65] text of a retried request is retracted, for any reason of the retry', () => {
    for (const [type, payload] of [
      ['session.error', { retry: 'retrying', retry_at: 9, error: { type: 'unknown_error', message: 'x' } }],
      ['turn.overflowed', {}],
    ] as const) {
      const { take } = openView();
      take('delta.text', { id: 'sevt_1', text: 'half' });
      const usage = { input_tokens: 1, output_tokens: 1, cost_nano_usd: null };
      take('span.model_request_end', { is_error: true, model: 'm', model_usage: usage as never });
      expect(take(type, payload as never)[0]).toMatchObject({ type: 'text_retract', from: 0 });
    }
  });

  const usage = { input_tokens: 1, output_tokens: 1, cost_nano_usd: null } as never;
  const program = { model: 'claude-code/default', includeThinking: true } as const;
  const message = (id: string, text: string) => ({ id, content: [{ type: 'text' as const, text }] });
  const thinking = (id: string, text: string) => ({
    id,
    block: { type: 'thinking' as const, thinking: text, signature: '' },
  });

  it.each(['strict', 'live', 'off'] as const)(
    '[V160] of a failed model request of a program exactly the blocks that the log has stay, with gate %s',
    (gate) => {
      const { take } = openView({ ...program, gate });
      const all = [
        take('span.model_request_start', { model: 'm', iteration: 1 }),
        take('delta.thinking', { id: 't1', text: 'Hm' }),
        take('agent.thinking', thinking('t1', 'Hm.')),
        take('delta.text', { id: 'a', text: 'One block.' }),
        take('delta.text', { id: 'b', text: 'Half' }),
        take('agent.message', message('a', 'One block.')),
        take('delta.thinking', { id: 't2', text: 'And' }),
      ].flat();
      const ended = take('span.model_request_end', { is_error: true, model: 'm', model_usage: usage });
      expect(ended.slice(1)).toMatchObject([
        { type: 'thinking_retract', from: 3 },
        { type: 'text_retract', from: 10 },
      ]);
      const retry = { at: 9, attempts_max: null };
      const error = { type: 'unknown_error', message: 'x' } as const;
      const again = take('session.error', { error, retry: 'retrying', retry_at: null, program_retry: retry });
      expect(again.map(({ type }) => type)).toEqual(['request_retrying']);
      const next = take('agent.message', message('c', 'The rest.'));
      expect(seenIn([...all, ...ended, ...next])).toEqual({ text: 'One block.The rest.', thinking: 'Hm.' });
    },
  );

  it('[V160] text of a program without a block belongs to no request, also if the turn fails or the request succeeds', () => {
    for (const isError of [true, false]) {
      const { take } = openView(program);
      const said = take('delta.text', { id: 'a', text: 'Half' });
      const ended = take('span.model_request_end', { is_error: isError, model: 'm', model_usage: usage });
      const error = take('session.error', { error: { type: 'unknown_error', message: 'x' }, retry: 'exhausted' });
      expect(error.map(({ type }) => type)).toEqual(['error']);
      const over = take('turn.ended', { ok: false, stop_reason: 'error', error: 'x' });
      expect(seenIn([...said, ...ended, ...error, ...over])).toEqual({ text: '', thinking: '' });
    }
  });

  it('[V160] blocks of a program are on the stream in the order of the log, also if one comes between the pieces of another', () => {
    const { take } = openView(program);
    const all = [
      take('delta.text', { id: 'b', text: 'Se' }),
      take('agent.message', message('a', 'First.')),
      take('delta.text', { id: 'b', text: 'cond.' }),
      take('agent.message', message('b', 'Second.')),
      take('span.model_request_end', { is_error: false, model: 'm', model_usage: usage }),
      take('agent.message', message('c', 'Third.')),
      take('turn.ended', { ok: true, stop_reason: 'end_turn', error: null }),
    ];
    expect(seenIn(all.flat()).text).toBe('First.Second.Third.');
  });

  it('[V161] text before a final failure stays, and thinking of a retried request is retracted like its text', () => {
    for (const isRetried of [true, false]) {
      const { take } = openView({ includeThinking: true });
      const all = [
        take('delta.thinking', { id: 't', text: 'Hm' }),
        take('delta.text', { id: 'a', text: 'Half' }),
        take('span.model_request_end', { is_error: true, model: 'm', model_usage: usage }),
        take('session.error', {
          error: { type: 'unknown_error', message: 'x' },
          ...(isRetried ? { retry: 'retrying', retry_at: 9 } : { retry: 'exhausted', retry_at: null }),
        }),
      ];
      const stays = { text: 'Half', thinking: 'Hm' };
      expect(seenIn(all.flat())).toEqual(isRetried ? { text: '', thinking: '' } : stays);
    }
  });

  it('[V162] an error of a session outside of turns is on the stream, in a run and between two, and one that is retried is not', () => {
    const { take } = openView();
    const error = { type: 'unknown_error', message: 'lost', reason: 'program_work_lost' } as const;
    const lost = { type: 'session_error', message: 'lost', code: 'unknown_error', reason: 'program_work_lost' };
    const outside = { turn: null };
    expect(take('session.error', { error, retry: 'exhausted', retry_at: null }, outside)).toMatchObject([lost]);
    take('run.ended', { ok: true, stop_reason: 'end_turn', error: null, content: '' });
    expect(take('session.error', { error, retry: 'exhausted', retry_at: null }, outside)).toMatchObject([lost]);
    expect(take('session.error', { error, retry: 'retrying', retry_at: null }, outside)).toEqual([]);
  });

  it('[V166] a rewind of files is on the stream between two runs, with at most 100 paths and the number of files', () => {
    const { take } = openView();
    take('run.ended', { ok: true, stop_reason: 'end_turn', error: null, content: '' });
    const rewound = { message_id: 'sevt_1', by: 'admin', lines_added: 3, lines_removed: 1 };
    const paths = (count: number) => Array.from({ length: count }, (_, index) => `${index}.ts`);
    for (const count of [1, viewLimits.rewoundFilesMax, viewLimits.rewoundFilesMax + 1]) {
      const event = {
        type: 'files_rewound',
        ...rewound,
        files: paths(Math.min(count, viewLimits.rewoundFilesMax)),
        files_count: count,
      };
      expect(take('program.files_rewound', { ...rewound, files: paths(count) }, { turn: null })).toMatchObject([event]);
    }
  });

  it('[V95] attempts are counted from the last answer on, and a restart of ours uses up none', () => {
    const { take } = openView();
    const fail = (reason?: string) => {
      const error = { type: 'unknown_error', message: 'x', ...(reason === undefined ? {} : { reason }) } as const;
      return take('session.error', { retry: 'retrying', retry_at: 9, error });
    };
    const usage = { input_tokens: 1, output_tokens: 1, cost_nano_usd: null } as never;
    expect(fail('overloaded')).toMatchObject([{ type: 'request_retrying', attempt: 2, retry_at: 9 }]);
    expect(fail('restarted')).toMatchObject([{ attempt: 2, reason: 'restarted' }]);
    expect(fail()).toMatchObject([{ attempt: 3 }]);
    take('span.model_request_end', { is_error: false, model: 'm', model_usage: usage });
    expect(fail()).toMatchObject([{ attempt: 2 }]);
    // A tool server that is away: the request is made without it.
    const away = { type: 'mcp_connection_failed_error', message: 'x' } as const;
    expect(take('session.error', { retry: 'retrying', retry_at: null, error: away })).toEqual([]);
  });

  it('[V150] a retry of a program has its own number of attempts, or none', () => {
    const { take } = openView();
    const error = { type: 'model_overloaded_error', message: '529 overloaded' } as const;
    const retry = (attempts: number | null) => ({
      error,
      retry: 'retrying' as const,
      retry_at: null,
      program_retry: { at: 9, attempts_max: attempts },
    });
    expect(take('session.error', retry(11))).toMatchObject([
      { type: 'request_retrying', attempt: 2, attempts_max: 11 },
    ]);
    const [unknown] = take('session.error', retry(null));
    expect(unknown).toMatchObject({ type: 'request_retrying', attempt: 3, retry_at: 9 });
    expect(unknown).not.toHaveProperty('attempts_max');
  });

  it('[V151] an edited file is shown with the content that the log has, as long as the run has room for it', () => {
    const { take } = openView();
    const edit = (id: string, content: string) => {
      const use = {
        id,
        call_id: id,
        name: 'Edit',
        input: { file_path: '/w/a' },
        evaluated_permission: 'allow' as const,
      };
      take('agent.tool_use', { ...use, kind: 'builtin', runs_at: 'server' });
      const result = { content: [], is_error: false, is_interrupted: false, duration_ms: 1, closes_ask: null };
      return take('agent.tool_result', { id, tool_use_id: id, ...result, file: { path: '/w/a', content } });
    };
    expect(edit('one', 'né')).toMatchObject([
      { type: 'tool_call' },
      { type: 'file', path: '/w/a', size: 3, content: 'né' },
    ]);
    expect(edit('two', 'x'.repeat(viewLimits.runFilesBytesMax))).toMatchObject([{ type: 'tool_call' }]);
  });

  it('[V66] a turn that fails emits its error once, before its end', () => {
    const { take } = openView();
    expect(take('turn.ended', { ok: false, stop_reason: 'refusal', error: 'the model refused' })).toMatchObject([
      { type: 'error', code: 'refusal', message: 'the model refused' },
      { type: 'stream_end', ok: false, stop_reason: 'refusal' },
    ]);
  });
});
