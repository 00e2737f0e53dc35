import { cutText } from '@fleetloom/protocol/fleet';
import { errorTypeOf } from '../failure.ts';
import type { JsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import { InvalidInput } from './invalid-input.ts';
import {
  type Fields,
  readFields,
  readFlag,
  readList,
  readName,
  readNumber,
  readOr,
  readText,
  readTexts,
  readWhole,
  refuseOthers,
} from './read-fields.ts';
import type { ExpectStep, FailStep, Step, Turn } from './script.ts';
import { type StopReason, stopReasons } from '../wire.ts';

/** Checks a list of steps. Throws a {@link InvalidInput} with the path of the error. */
export function* checkTurn(value: unknown, path: string): Generator<void, Turn> {
  const steps: Step[] = [];
  for (const [index, step] of readList(value, path, { max: limits.stepsMax }).entries()) {
    if (index % STEPS_AT_ONCE === 0) yield;
    steps.push(checkStep(step, `${path}[${index}]`));
  }
  return steps;
}

const STEPS_AT_ONCE = 16;

function checkStep(value: unknown, path: string): Step {
  const fields = readFields(value, path);
  const kinds = Object.keys(stepKinds).filter((kind) => fields[kind] !== undefined);
  const [kind] = kinds;
  const known = Object.keys(stepKinds).join(', ');
  if (kind === undefined || !isKind(kind)) {
    // Usually a misspelt step: its name helps more than a list of missing fields.
    const [other] = Object.keys(fields);
    if (other === undefined) throw new InvalidInput(path, `is an empty step; known: ${known}`);
    throw new InvalidInput(`${path}.${cutText(other, 100)}`, `is not a step; known steps: ${known}`);
  }
  if (kinds.length > 1) throw new InvalidInput(path, `is ${kinds.join(' and ')} at once; make each a step of its own`);
  const { with: others, check } = stepKinds[kind];
  refuseOthers(fields, path, [kind, ...others]);
  return check(fields, path);
}

interface StepKind {
  /** Fields that are allowed in addition to the field that names the step. */
  with: readonly string[];
  check: (fields: Fields, path: string) => Step;
}

const stepKinds = {
  think: { with: ['chunks', 'every_ms'], check: (fields, path) => checkSpoken('think', fields, path) },
  say: { with: ['chunks', 'every_ms'], check: (fields, path) => checkSpoken('say', fields, path) },
  call: { with: ['input'], check: checkCall },
  sleep_ms: {
    with: [],
    check: (fields, path) => ({ type: 'sleep', ms: checkWait(fields['sleep_ms'], `${path}.sleep_ms`) }),
  },
  fail: { with: [], check: (fields, path) => checkFail(readFields(fields['fail'], `${path}.fail`), `${path}.fail`) },
  cut: { with: [], check: (fields, path) => ({ type: 'cut', times: checkCut(fields['cut'], `${path}.cut`) }) },
  stop: {
    with: [],
    check: (fields, path) => ({ type: 'stop', reason: checkStopReason(fields['stop'], `${path}.stop`) }),
  },
  expect: {
    with: [],
    check: (fields, path) => checkExpect(readFields(fields['expect'], `${path}.expect`), `${path}.expect`),
  },
} satisfies Record<string, StepKind>;

function isKind(kind: string): kind is keyof typeof stepKinds {
  return Object.hasOwn(stepKinds, kind);
}

function checkSpoken(type: 'think' | 'say', fields: Fields, path: string): Step {
  const range = { min: 1, max: limits.chunksMax };
  return {
    type,
    text: readText(fields[type], `${path}.${type}`),
    chunks: readOr(fields['chunks'], undefined, (value) => readWhole(value, `${path}.chunks`, range)),
    everyMs: readOr(fields['every_ms'], 0, (value) => checkWait(value, `${path}.every_ms`)),
  };
}

function checkCall(fields: Fields, path: string): Step {
  const name = readName(fields['call'], `${path}.call`);
  const given = fields['input'] ?? {};
  const input = typeof given === 'string' ? { input: given } : readFields(given, `${path}.input`);
  // The cast: the whole script was checked to be JSON, and this part of it to be an object.
  return { type: 'call', name, input: input as JsonObject };
}

function checkFail(fields: Fields, path: string): FailStep {
  refuseOthers(fields, path, ['status', 'type', 'message', 'times', 'retry_after_s', 'in_stream']);
  const status = readWhole(fields['status'], `${path}.status`, { min: 400, max: 599 });
  const seconds = { min: 0, max: limits.retryAfterSMax };
  return {
    type: 'fail',
    status,
    errorType: readOr(fields['type'], errorTypeOf(status), (value) => readName(value, `${path}.type`)),
    message: readOr(fields['message'], `the script fails this request with status ${status}`, (value) =>
      readText(value, `${path}.message`),
    ),
    times: readOr(fields['times'], 1, (value) => checkTimes(value, `${path}.times`)),
    retryAfterS: readOr(fields['retry_after_s'], undefined, (value) =>
      readNumber(value, `${path}.retry_after_s`, seconds),
    ),
    inStream: readOr(fields['in_stream'], false, (value) => readFlag(value, `${path}.in_stream`)),
  };
}

function checkCut(value: unknown, path: string): number | undefined {
  if (value === true) return undefined;
  if (typeof value !== 'object')
    throw new InvalidInput(path, 'must be true, or { "times": n } to spoil n attempts only');
  const fields = readFields(value, path);
  refuseOthers(fields, path, ['times']);
  return checkTimes(fields['times'], `${path}.times`);
}

function checkStopReason(value: unknown, path: string): StopReason {
  const reason = stopReasons.find((known) => known === readText(value, path));
  if (reason === undefined) throw new InvalidInput(path, `must be one of ${stopReasons.join(', ')}`);
  return reason;
}

function checkExpect(fields: Fields, path: string): ExpectStep {
  refuseOthers(fields, path, ['contains', 'tool_result', 'is_error', 'tools']);
  if (Object.keys(fields).length === 0) throw new InvalidInput(path, 'expects nothing');
  const texts = (name: string) =>
    readOr(fields[name], [], (value) => readTexts(value, `${path}.${name}`, limits.stepsMax));
  return {
    type: 'expect',
    contains: texts('contains'),
    toolResult: texts('tool_result'),
    isError: readOr(fields['is_error'], undefined, (value) => readFlag(value, `${path}.is_error`)),
    tools: texts('tools'),
  };
}

function checkWait(value: unknown, path: string): number {
  return readNumber(value, path, { min: 0, max: limits.waitMsMax });
}

function checkTimes(value: unknown, path: string): number {
  return readWhole(value, path, { min: 1, max: limits.timesMax });
}
