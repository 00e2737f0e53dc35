import { parseFleetEvent } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { sampleLog } from '../../model/sample-log.suite.ts';
import { type OtlpSpan, toOtlp } from './to-otlp.ts';
import { traceIdOf } from './trace-ids.ts';

function spansOf(log: Parameters<typeof toOtlp>[2]): readonly OtlpSpan[] {
  return toOtlp('sesn_1', 'A title', log).resourceSpans[0]!.scopeSpans[0]!.spans;
}

const valueOf = (span: OtlpSpan, key: string) => span.attributes.find((one) => one.key === key)?.value;

it('[Z308] a session is exported as one trace: its run, turns below the turn that started them, requests with tokens, calls', () => {
  const log = sampleLog();
  const spans = spansOf(log);
  const named = (start: string) => spans.filter(({ name }) => name.startsWith(start));
  expect(
    [named('run'), named('invoke_agent'), named('chat'), named('execute_tool')].map(({ length }) => length),
  ).toEqual([1, 6, 7, 6]);
  const [run] = named('run');
  const [lead, ...workers] = named('invoke_agent');
  expect(lead!.parentSpanId).toBe(run!.spanId);
  expect(new Set(workers.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([lead!.spanId]));
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  for (const { traceId, spanId } of spans) {
    expect(traceId).toBe(traceIdOf('sesn_1'));
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(spanId).toMatch(/^[0-9a-f]{16}$/);
  }

  // Every span of a turn names its agent.
  for (const span of spans.filter((one) => one !== run)) {
    expect(valueOf(span, 'gen_ai.agent.id')).toMatchObject({ stringValue: expect.stringMatching(/^sthr_sesn_1_\d$/) });
    expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
  }
  const tokens = named('chat').reduce((sum, span) => {
    const value = valueOf(span, 'gen_ai.usage.input_tokens');
    return sum + (value !== undefined && 'intValue' in value ? Number(value.intValue) : 0);
  }, 0);
  const expected = log.reduce((sum, event) => sum + (event.type === 'token_usage' ? event.input_tokens : 0), 0);
  expect(tokens).toBe(expected);
  const failed = named('execute_tool').filter(({ status }) => status.code === 2);
  expect(failed.map(({ status }) => status.message)).toEqual(['no such file']);
  expect(workers[0]!.events.map(({ name }) => name)).toEqual(['approval_required', 'approval_resolved']);
  expect(log[0]!.ts).toBe(Number(run!.startTimeUnixNano.slice(0, -6)));
});

it('[Z323] a decision in a trace has its user, rule and input hash, as far as the stream contains them', () => {
  const facts = { result: 'allow', by: 'ann', rule: 'bash(*)', input_sha256: 'ab' };
  const answersOf = (more: object) => {
    const log = sampleLog().map((event) => (event.type === 'approval_resolved' ? { ...event, ...more } : event));
    const events = spansOf(log).flatMap((span) => span.events.filter(({ name }) => name === 'approval_resolved'));
    return events.map(({ attributes }) => attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  };
  const [tool, ...answer] = answersOf(facts)[0]!;
  expect(tool).toEqual(['gen_ai.tool.name', 'bash']);
  expect(answer).toEqual(Object.entries(facts).map(([name, value]) => [`fleetloom.approval.${name}`, value]));
  const older = answersOf({ rule: undefined, input_sha256: undefined })[0]!.map(([key]) => key);
  expect(older).toEqual(['gen_ai.tool.name', 'fleetloom.approval.result', 'fleetloom.approval.by']);
});

it('[Z308] a span that is open at the end of the log ends with it and is not a success; a refused request is an error with its reason', () => {
  const log = sampleLog({ isOpen: true });
  const last = log.at(-1)!;
  const open = spansOf(log).filter(({ status }) => status.code === 0);
  expect(open.length).toBeGreaterThan(2);
  expect(new Set(open.map(({ endTimeUnixNano }) => endTimeUnixNano))).toEqual(new Set([`${last.ts}000000`]));

  const asked = log.find(({ type }) => type === 'agent_start')!;
  const turn = { stream_id: 0, depth: 0, agent: 'coordinator', thread_id: 't' };
  const refusal = { code: 'c', message: '429 slow down', attempt: 2, retry_at: 1 };
  const data = JSON.stringify({ session_id: 'sesn_1', seq: 4, ts: asked.ts! + 5, ...turn, ...refusal });
  const retrying = parseFleetEvent({ event: 'request_retrying', id: '4', data });
  const refused = spansOf([...log.slice(0, 3), retrying]).find(({ name }) => name.startsWith('chat'))!;
  expect(refused.status).toEqual({ code: 2, message: '429 slow down' });
});
