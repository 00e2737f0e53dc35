import { limits } from '../../base/limits.ts';
import { readRecord, toObject, toText, type TranscriptRecord } from '../transcript-record.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Event {
  readonly time: number;
  readonly fields: Fields;
}

/**
 * Converts an exported opencode conversation to lines in order of time: messages of people, and for each response its blocks, calls,
 * results and end. While the conversation grows, lines are only appended, so a response in progress has lines only for complete parts.
 */
export function toLines(exported: unknown): TranscriptRecord[] {
  const listed = toObject(exported)['messages'];
  const messages = Array.isArray(listed) ? listed.map(toObject) : [];
  const callIds = new Set<string>();
  let last = 0;
  const events = messages.flatMap((message, at) => {
    const info = toObject(message['info']);
    last = Math.max(last, toTime(toObject(info['time'])['created']) ?? 0);
    const parts = Array.isArray(message['parts']) ? message['parts'].map(toObject) : [];
    if (info['role'] === 'user') return toMessage(parts, last);
    if (info['role'] !== 'assistant') return [];
    const next = messages[at + 1];
    const ended = toTime(toObject(info['time'])['completed']);
    const end = ended ?? (next === undefined ? undefined : toTime(toObject(toObject(next['info'])['time'])['created']));
    return toResponse(info, parts, {
      began: last,
      ended: end === undefined ? undefined : Math.max(end, last),
      callIds,
    });
  });
  const { directory, version } = toObject(toObject(exported)['info']);
  const facts = { directory, version };
  return events.flatMap(({ time, fields }) => readRecord({ ...fields, ...facts, timestamp: toTimestamp(time) }) ?? []);
}

/** The sub-agents that a conversation has started, with the agent types that their calls name. */
export function listChildren(exported: unknown): { readonly id: string; readonly agent: string | undefined }[] {
  return toLines(exported).flatMap(({ type, fields }) => {
    const id = type === 'call' ? toText(fields['child']) : undefined;
    return id === undefined ? [] : [{ id, agent: toText(toObject(fields['input'])['subagent_type']) }];
  });
}

function toMessage(parts: readonly Fields[], time: number): Event[] {
  // Texts that opencode adds are for the model and not messages of a person.
  const texts = parts.flatMap((part) =>
    part['type'] === 'text' && part['synthetic'] !== true ? (toText(part['text']) ?? []) : [],
  );
  return texts.length === 0 ? [] : [{ time, fields: { type: 'user', text: texts.join('\n') } }];
}

interface Response {
  readonly began: number;
  /** Undefined for a response in progress. */
  readonly ended: number | undefined;
  readonly callIds: Set<string>;
}

function toResponse(info: Fields, parts: readonly Fields[], { began, ended, callIds }: Response): Event[] {
  const model = toText(info['modelID'])?.slice(0, limits.importNameCharsMax);
  // The text of a compaction is for the model, so it is not a line.
  const isSummary = info['summary'] === true;
  const events: Event[] = [];
  for (const part of parts) {
    const time = toObject(part['time']);
    if (part['type'] === 'text' || part['type'] === 'reasoning') {
      const at = toTime(time['end']) ?? ended;
      const text = toText(part['text']);
      if (at !== undefined && text !== undefined && !isSummary)
        events.push({ time: at, fields: { type: part['type'], text, model } });
    } else if (part['type'] === 'tool') events.push(...toCall(part, { began, ended, callIds, model }));
  }
  events.sort((one, other) => one.time - other.time);
  // The conversation of a sub-agent is known a moment after its call. Until then, the call and everything after it are held back.
  const unknown = ended === undefined ? events.findIndex(({ fields }) => isUnjoined(fields)) : -1;
  if (unknown >= 0) return events.slice(0, unknown);
  if (ended !== undefined) {
    const { error = null, finish = null, tokens } = info;
    const fields = { type: 'end', error, finish, tokens, model, is_summary: isSummary };
    events.push({ time: Math.max(ended, events.at(-1)?.time ?? 0), fields });
  }
  return events;
}

function isUnjoined({ type, name, child }: Fields): boolean {
  return type === 'call' && name === 'task' && child === undefined;
}

function toCall(
  part: Fields,
  { began, ended, callIds, model }: Response & { readonly model: string | undefined },
): Event[] {
  const [name, id] = [toText(part['tool']), toText(part['callID'])];
  const state = toObject(part['state']);
  const { status } = state;
  // The input of a pending call is incomplete.
  if (name === undefined || id === undefined || (status === 'pending' && ended === undefined)) return [];
  const callId = (callIds.has(id) ? `${id} ${String(part['id'])}` : id).slice(0, limits.importNameCharsMax);
  callIds.add(id);
  const time = toObject(state['time']);
  const metadata = toObject(state['metadata']);
  const made = toTime(time['start']) ?? began;
  const call: Event = {
    time: made,
    fields: {
      type: 'call',
      call_id: callId,
      name: name.slice(0, limits.importNameCharsMax),
      input: state['input'] ?? {},
      child: metadata['sessionId'],
      model,
    },
  };
  if (status !== 'completed' && status !== 'error') return [call];
  const isError = status === 'error' || (typeof metadata['exit'] === 'number' && metadata['exit'] !== 0);
  const output = toText(status === 'error' ? state['error'] : state['output']) ?? '';
  const fields = { type: 'result', call_id: callId, output, is_error: isError };
  return [call, { time: Math.max(made, toTime(time['end']) ?? ended ?? made), fields }];
}

function toTime(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < TIME_END ? value : undefined;
}

/** The exclusive upper bound for times: the last moment of a JavaScript Date. */
const TIME_END = 8.64e15;

function toTimestamp(time: number): string {
  return new Date(time).toISOString();
}
