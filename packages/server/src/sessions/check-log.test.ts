import { describe, expect, it } from 'vitest';
import type { SessionFrame } from '../frames/frames.ts';
import { findHistoryProblems } from './suite/check-history.suite.ts';
import { findLogProblems } from './suite/check-log.suite.ts';
import { agent, message, openFleet, result, script, snapshot } from './suite/fleet.suite.ts';

// The other random and crash tests are worth as much as what they would notice.

describe('what the checks of a log notice', () => {
  let frames: SessionFrame[] = [];

  it('[X4] a log as sessions write it has nothing wrong with it', async () => {
    frames = await writeLog();
    expect(findLogProblems(frames)).toEqual([]);
  });

  it('[X4] a missing frame is noticed, except one that no other frame refers to', () => {
    // Without its last frame a log is shorter, and whole.
    const inside = frames.slice(0, -1);
    const unnoticed = inside.filter((_, at) => findLogProblems(renumber(frames.toSpliced(at, 1))).length === 0);
    const types = new Set(unnoticed.map(({ type }) => type));
    expect([...types].sort()).toEqual(['turn.took', 'user.interrupt', 'user.message']);
  });

  it('[X4] a number that is missing or comes twice is noticed', () => {
    for (const at of [1, 7, frames.length - 2]) {
      expect(findLogProblems(frames.toSpliced(at, 1))).not.toEqual([]);
      expect(findLogProblems(frames.toSpliced(at, 0, frames[at]!))).not.toEqual([]);
    }
  });

  it('[X4] work that is written twice is noticed', () => {
    const work = /^(?:turn\.(?:started|ended)|run\.|span\.|agent\.(?:tool_use|tool_result)|tool\.|delta\.text)/;
    for (const [at, frame] of frames.entries()) {
      if (!work.test(frame.type)) continue;
      expect([frame.type, findLogProblems(renumber(frames.toSpliced(at, 0, frame)))]).not.toEqual([frame.type, []]);
    }
  });

  it('[X4] a block that differs from its deltas is noticed', () => {
    const changed = frames.map((frame): SessionFrame => {
      if (frame.type !== 'delta.text') return frame;
      return { ...frame, payload: { ...frame.payload, text: frame.payload.text.toUpperCase() } };
    });
    expect(findLogProblems(changed)).not.toEqual([]);
  });

  it('[X4] frames of a request after its end are noticed', () => {
    const at = frames.findIndex(({ type }) => type === 'delta.text');
    const end = frames.findIndex(({ type, threadId }, index) => {
      return index > at && type === 'span.model_request_end' && threadId === frames[at]!.threadId;
    });
    const late = frames.toSpliced(end + 1, 0, frames[at]!).toSpliced(at, 1);
    expect(findLogProblems(renumber(late))).not.toEqual([]);
  });

  it('[X4] a child that is as deep as its parent is noticed', () => {
    const flat = frames.map((frame): SessionFrame => {
      return frame.type === 'session.thread_created' ? { ...frame, payload: { ...frame.payload, depth: 0 } } : frame;
    });
    expect(findLogProblems(flat)).not.toEqual([]);
  });
});

describe('what the check of a history notices', () => {
  const said = { role: 'user', content: [{ type: 'text', text: 'Begin.' }] } as const;
  const called = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'bash', input: {} }] } as const;
  const answered = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'a', content: [], is_error: false }],
  } as const;

  it('[X4] a call without a result, a result without a call, and empty content are noticed', () => {
    expect(findHistoryProblems([said, called, answered])).toEqual([]);
    expect(findHistoryProblems([said, called])).not.toEqual([]);
    expect(findHistoryProblems([said, called, said])).not.toEqual([]);
    expect(findHistoryProblems([said, called, said, answered])).not.toEqual([]);
    expect(findHistoryProblems([said, answered])).not.toEqual([]);
    expect(findHistoryProblems([said, called, answered, answered])).not.toEqual([]);
    expect(findHistoryProblems([called, answered])).not.toEqual([]);
    expect(findHistoryProblems([said, { role: 'assistant', content: [] }])).not.toEqual([]);
  });
});

/** Two children, a tool that is asked for, an interrupt, and a second message. */
async function writeLog(): Promise<SessionFrame[]> {
  const fleet = await openFleet({
    tools: { careful: { kind: 'builtin', permission: 'ask', run: () => result('done') } },
  });
  const says = (text: string) => script({ turns: [[{ say: text, chunks: 3, every_ms: 1 }]] });
  const tasks = [1, 2].map((at) => ({ agent: 'worker', message: says(`part ${at} of the work`) }));
  const id = await fleet.begin(
    agent('lead', [snapshot('worker')]),
    script({
      turns: [
        [
          { say: 'I share it out.', chunks: 4, every_ms: 1 },
          { call: 'delegate', input: { tasks } },
        ],
        [{ call: 'send_to_agent', input: { agent: 'worker', message: says('a report for later') } }],
        [{ call: 'careful' }],
        [{ say: 'All is done.' }],
      ],
    }),
  );
  const asked = await fleet.until(id, ({ type, payload }) => {
    return type === 'session.status_idle' && payload.stop_reason.type === 'requires_action';
  });
  const uses = (await fleet.frames(id)).flatMap(({ type, payload }) => {
    return type === 'agent.tool_use' && payload.evaluated_permission === 'ask' ? [payload.id] : [];
  });
  await fleet.send(id, { type: 'user.tool_confirmation', tool_use_id: uses[0]!, result: 'allow', deny_message: null });
  const first = await fleet.rest(id, asked.seq);
  await fleet.send(id, message('And once more.'), { type: 'user.interrupt', session_thread_id: null });
  await fleet.rest(id, first.seq);
  return await fleet.frames(id);
}

function renumber(frames: readonly SessionFrame[]): SessionFrame[] {
  return frames.map((frame, index) => ({ ...frame, seq: index + 1 }));
}
