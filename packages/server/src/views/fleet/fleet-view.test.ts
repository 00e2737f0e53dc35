import { parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import type { FramePayloads, FrameType, SessionFrame } from '../../frames/frames.ts';
import { encodeTelling } from './encoded-event.ts';
import { FleetView, type FleetViewOptions } from './fleet-view.ts';

const turn = { streamId: 0, depth: 0, run: 'req_1' };

/** A view in the middle of a turn, and what it makes of further frames. */
function openView(options: Partial<FleetViewOptions> = {}) {
  const view = new FleetView({ gate: 'off', includeThinking: false, ...options });
  let seq = 0;
  const take = <Type extends FrameType>(
    type: Type,
    payload: Partial<FramePayloads[Type]>,
    place: object = { turn },
  ) => {
    // What the view does not look at is left out.
    const frame = { sessionId: 'sesn_1', threadId: 'sthr_1', time: seq, seq: ++seq, type, payload, ...place };
    const events = encodeTelling(frame, view.take(frame as unknown as SessionFrame));
    const items = new SseDecoder().push(Buffer.concat(events.map(({ bytes }) => bytes)));
    return items.flatMap((item) => (item.type === 'event' ? [parseFleetEvent(item)] : []));
  };
  take('session.created', { depth_max: 2, members: [], text_commands: true }, { turn: null });
  take('run.started', { agent_name: 'lead', message: 'Go' });
  take('turn.started', { agent_name: 'lead', model: 'm', task: 'Go', parent_stream_id: null, child_index: null });
  return { view, take };
}

describe('the fleet view', () => {
  it('[V62] of the files of a run so much is shown and not more, and all are counted', () => {
    const { take } = openView();
    const write = (id: string, content: string) => {
      const input = { file_path: id, content };
      take('agent.tool_use', { id, name: 'write', input, kind: 'builtin', evaluated_permission: 'allow' });
      return take('agent.tool_result', { tool_use_id: id, content: [], is_error: false, is_interrupted: false });
    };
    expect(write('a', 'x'.repeat(limits.runFilesBytesMax)).map(({ type }) => type)).toEqual(['tool_call', 'file']);
    expect(write('b', 'y').map(({ type }) => type)).toEqual(['tool_call']);
    const [done] = take('run.ended', { ok: true, stop_reason: 'end_turn', error: null, content: '' });
    expect(done).toMatchObject({ type: 'done', files_bytes: limits.runFilesBytesMax + 1 });
  });

  it('[V63] text that nobody saw growing is told when it is whole, and text that was is not told again', () => {
    const { take } = openView();
    expect(take('delta.text', { id: 'sevt_1', text: 'one ' })).toMatchObject([{ type: 'text', delta: 'one ' }]);
    expect(take('agent.message', { id: 'sevt_1', content: [{ type: 'text', text: 'one ' }] })).toEqual([]);
    const whole = take('agent.message', { id: 'sevt_2', content: [{ type: 'text', text: 'two' }] });
    expect(whole).toMatchObject([{ type: 'text', delta: 'two' }]);
  });

  it('[R277] an answer of an older log, which does not say by which rule and about what, is told without them', () => {
    const { take } = openView();
    const use = { id: 'sevt_1', name: 'bash', input: { command: 'ls' } };
    take('agent.tool_use', { ...use, kind: 'builtin', evaluated_permission: 'ask' });
    const [told] = take('user.tool_confirmation', { tool_use_id: 'sevt_1', result: 'deny', deny_message: null });
    expect(told).toMatchObject({ type: 'approval_resolved', result: 'deny', by: 'client', input: { command: 'ls' } });
    expect([told && 'rule' in told, told && 'input_sha256' in told]).toEqual([false, false]);
  });

  it('[V140] an approval is required when the program asks, about what it shows then, and never for a call that it refuses', () => {
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

  it('[V142] a call whose result the client gives says so when it starts, whether or not the program has asked', () => {
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
    const told = take('turn.ended', { ok: false, stop_reason: 'error', error: 'x' });
    expect(told.map(({ type, cursor }) => [type, cursor])).toEqual([['stream_end', '5']]);
    const ended = take('run.ended', { ok: false, stop_reason: 'error', error: 'x', content: '' });
    expect(ended.map(({ type, cursor }) => [type, cursor])).toEqual([
      ['error', '6'],
      ['done', '6.1'],
    ]);
    expect(ended).toMatchObject([{ code: 'unknown_error' }, { error_code: 'unknown_error' }]);
  });

  it('[V65] what a request said that is made again is taken back, for whatever reason it is', () => {
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
    expect(edit('two', 'x'.repeat(limits.runFilesBytesMax))).toMatchObject([{ type: 'tool_call' }]);
  });

  it('[V66] a turn that does not end well tells why before its end, once', () => {
    const { take } = openView();
    expect(take('turn.ended', { ok: false, stop_reason: 'refusal', error: 'the model refused' })).toMatchObject([
      { type: 'error', code: 'refusal', message: 'the model refused' },
      { type: 'stream_end', ok: false, stop_reason: 'refusal' },
    ]);
  });
});
