import { cutText } from '@fleetloom/protocol/fleet';
import { nameIn, number, record, records, text, tokenCount, toJson } from '../../lines/values.ts';
import { baseLimits } from '../../../../base/limits.ts';
import type {
  AskRequest,
  MessageInfo,
  OpencodeError,
  OpencodeEvent,
  Part,
  SessionInfo,
  SessionStatus,
  ToolState,
} from './events.ts';

/** Reads an event of `GET /event`. Null for a malformed event, and for a type that the engine does not use. */
export function readEvent(value: unknown): OpencodeEvent | null {
  const event = record(value);
  const properties = record(event?.['properties']);
  const type = text(event?.['type']);
  if (properties === undefined || type === undefined) return null;
  const sessionId = nameIn(properties['sessionID']);
  switch (type) {
    case 'session.created':
    case 'session.updated': {
      const session = readSession(properties['info']);
      return session === null ? null : { type: 'session', session };
    }
    case 'message.updated': {
      const message = readMessage(properties['info']);
      return message === null ? null : { type: 'message', message };
    }
    case 'message.part.updated': {
      const part = readPart(properties['part']);
      return part === null ? null : { type: 'part', part };
    }
    case 'permission.asked':
    case 'question.asked': {
      const request = readAsk(type === 'question.asked' ? 'question' : 'permission', properties);
      return request === null ? null : { type: 'asked', request };
    }
    default:
      return sessionId === undefined ? null : readOfSession(type, sessionId, properties);
  }
}

/** Reads events with the id of their conversation that contain no object of their own. */
function readOfSession(type: string, sessionId: string, properties: Record<string, unknown>): OpencodeEvent | null {
  switch (type) {
    case 'session.status': {
      const status = readStatus(properties['status']);
      return status === null ? null : { type: 'status', sessionId, status };
    }
    case 'session.idle':
      return { type: 'idle', sessionId };
    case 'session.error':
      return { type: 'error', sessionId, error: readError(properties['error']) };
    case 'session.compacted':
      return { type: 'compacted', sessionId };
    case 'todo.updated':
      return { type: 'todos', sessionId, todos: properties['todos'] };
    case 'message.part.delta': {
      const [messageId, partId] = [nameIn(properties['messageID']), nameIn(properties['partID'])];
      const delta = text(properties['delta']);
      if (messageId === undefined || partId === undefined || delta === undefined) return null;
      return properties['field'] === 'text' ? { type: 'delta', sessionId, messageId, partId, text: delta } : null;
    }
    case 'permission.replied':
    case 'question.replied':
    case 'question.rejected': {
      const requestId = nameIn(properties['requestID']);
      return requestId === undefined ? null : { type: 'replied', sessionId, requestId };
    }
    default:
      return null;
  }
}

/** Reads a conversation of an event or of `GET /session`. */
export function readSession(value: unknown): SessionInfo | null {
  const info = record(value);
  const id = nameIn(info?.['id']);
  if (info === undefined || id === undefined) return null;
  return {
    id,
    parentId: nameIn(info['parentID']) ?? null,
    title: cutText(text(info['title']) ?? '', baseLimits.foreignNameCharsMax),
    agent: nameIn(info['agent']) ?? null,
  };
}

/** Reads the status of a conversation from an event or from `GET /session/status`. */
export function readStatus(value: unknown): SessionStatus | null {
  const status = record(value);
  switch (status?.['type']) {
    case 'busy':
    case 'idle':
      return { type: status['type'] };
    case 'retry':
      return {
        type: 'retry',
        attempt: Math.max(0, number(status['attempt']) ?? 0),
        message: text(status['message']) ?? '',
        next: number(status['next']) ?? null,
      };
    default:
      return null;
  }
}

/** Reads a message of an event or of `GET /session/{id}/message`. */
export function readMessage(value: unknown): MessageInfo | null {
  const info = record(value);
  const [id, sessionId] = [nameIn(info?.['id']), nameIn(info?.['sessionID'])];
  if (info === undefined || id === undefined || sessionId === undefined) return null;
  if (info['role'] === 'user') return { role: 'user', id, sessionId };
  if (info['role'] !== 'assistant') return null;
  const tokens = record(info['tokens']);
  const cache = record(tokens?.['cache']);
  return {
    role: 'assistant',
    id,
    sessionId,
    parentId: nameIn(info['parentID']) ?? null,
    model: text(info['modelID']) ?? 'unknown',
    finish: text(info['finish']) ?? null,
    error: info['error'] === undefined || info['error'] === null ? null : readError(info['error']),
    isCompleted: number(record(info['time'])?.['completed']) !== undefined,
    tokens: {
      input: tokenCount(tokens?.['input']),
      output: tokenCount(tokens?.['output']),
      reasoning: tokenCount(tokens?.['reasoning']),
      cacheRead: tokenCount(cache?.['read']),
      cacheWrite: tokenCount(cache?.['write']),
    },
  };
}

/** Reads a part of an event or of `GET /session/{id}/message`. */
export function readPart(value: unknown): Part | null {
  const part = record(value);
  const [id, sessionId] = [nameIn(part?.['id']), nameIn(part?.['sessionID'])];
  const messageId = nameIn(part?.['messageID']);
  if (part === undefined || id === undefined || sessionId === undefined || messageId === undefined) return null;
  const of = { id, sessionId, messageId };
  if (part['type'] === 'text' || part['type'] === 'reasoning') {
    const isWhole = number(record(part['time'])?.['end']) !== undefined;
    return {
      ...of,
      type: part['type'],
      text: text(part['text']) ?? '',
      isWhole,
      isSynthetic: part['synthetic'] === true,
    };
  }
  if (part['type'] === 'step-finish') return { ...of, type: 'step-finish' };
  const [callId, tool, state] = [nameIn(part['callID']), nameIn(part['tool']), readState(part['state'])];
  if (part['type'] !== 'tool' || callId === undefined || tool === undefined || state === null)
    return { ...of, type: 'other' };
  return { ...of, type: 'tool', callId, tool, state };
}

/** Reads a waiting permission request or question of an event, `GET /permission` or `GET /question`. */
export function readAsk(kind: AskRequest['kind'], value: unknown): AskRequest | null {
  const request = record(value);
  const [id, sessionId] = [nameIn(request?.['id']), nameIn(request?.['sessionID'])];
  if (request === undefined || id === undefined || sessionId === undefined) return null;
  return {
    kind,
    id,
    sessionId,
    callId: nameIn(record(request['tool'])?.['callID']) ?? null,
    permission: nameIn(request['permission']) ?? '',
    questions: records(request['questions'])
      .slice(0, QUESTIONS_MAX)
      .map((question) => cutText(text(question['question']) ?? '', QUESTION_CHARS_MAX)),
  };
}

function readState(value: unknown): ToolState | null {
  const state = record(value);
  const status = state?.['status'];
  if (state === undefined || !isToolStatus(status)) return null;
  const metadata = record(state['metadata']);
  return {
    status,
    input: toJson(state['input']),
    output: text(status === 'error' ? state['error'] : state['output']) ?? '',
    shown: status === 'running' ? (text(metadata?.['output']) ?? '') : '',
    exit: number(metadata?.['exit']) ?? null,
    childId: nameIn(metadata?.['sessionId']) ?? null,
  };
}

function isToolStatus(value: unknown): value is ToolState['status'] {
  return value === 'pending' || value === 'running' || value === 'completed' || value === 'error';
}

function readError(value: unknown): OpencodeError {
  const error = record(value);
  const data = record(error?.['data']);
  const name = text(error?.['name']) ?? 'UnknownError';
  return {
    name,
    message: text(data?.['message']) ?? text(error?.['message']) ?? name,
    statusCode: number(data?.['statusCode']) ?? null,
  };
}

/** Limits of the questions that are kept of one request, to compare them with the answers. */
const QUESTIONS_MAX = 50;
const QUESTION_CHARS_MAX = 4_000;
