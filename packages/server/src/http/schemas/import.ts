import { z } from 'zod';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { sessionLimits } from '../../sessions/core/limits.ts';
import { json } from './common.ts';
import { messageBlock, resultBlock } from './content.ts';

const name = z.string().min(1).max(httpLimits.importNameCharsMax);
const text = z.string().nullable();
const count = z.int().min(0);

const usage = z.strictObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_5m_input_tokens: count,
  cache_creation_1h_input_tokens: count,
});

const outcome = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('done') }),
  z.strictObject({ type: z.literal('stopped') }),
  z.strictObject({ type: z.literal('refused'), message: z.string() }),
  z.strictObject({ type: z.literal('failed'), message: z.string() }),
]);

const assistantBlock = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('thinking'), thinking: z.string() }),
  z.strictObject({ type: z.literal('other'), raw: z.record(z.string(), json) }),
]);

/** One step of an imported agent. `line` is its line in the agent's own file. */
const step = z.strictObject({
  key: name,
  line: z.int().min(1),
  time: z.iso.datetime(),
  event: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('said'), content: z.array(messageBlock).min(1) }),
    z.strictObject({ type: z.literal('turn_started') }),
    z.strictObject({ type: z.literal('turn_ended'), outcome }),
    z.strictObject({
      type: z.literal('thread_opened'),
      parent_key: name,
      agent_name: z.string().min(1).max(baseLimits.nameCharsMax),
      description: text,
      prompt: text,
      call_id: text,
    }),
    z.strictObject({ type: z.literal('thread_started'), prompt: text }),
    z.strictObject({
      type: z.literal('thread_ended'),
      status: z.enum(['completed', 'failed', 'stopped']),
      error: text,
    }),
    z.strictObject({ type: z.literal('request_started'), model: name }),
    z.strictObject({
      type: z.literal('request_ended'),
      model: name,
      usage,
      stop_reason: text,
      is_error: z.boolean(),
    }),
    z.strictObject({ type: z.literal('block'), content: assistantBlock }),
    z.strictObject({ type: z.literal('call'), call_id: name, name, input: json }),
    z.strictObject({
      type: z.literal('result'),
      call_id: name,
      content: z.array(resultBlock),
      is_error: z.boolean(),
    }),
    z.strictObject({ type: z.literal('compacted') }),
  ]),
});

/** A call of an agent, by the name that the program gave it. */
const callName = z.strictObject({ key: name, call_id: name });

/** The body of `POST /v1/imports`. */
export const importBody = z.strictObject({
  /** The program that wrote the files. */
  program: z.enum(['claude-code', 'codex', 'opencode']),
  /** The program's id of the conversation; all requests with it extend one session. */
  conversation: name,
  title: z.string().max(sessionLimits.titleCharsMax).nullable(),
  /** The working directory, followed by the version of the program. */
  directory: z.string().max(httpLimits.metadataValueCharsMax).nullable(),
  version: name.nullable(),
  steps: z.array(step).max(httpLimits.importStepsMax),
  /** Whether no more steps follow for now: open turns end. */
  is_end: z.boolean(),
  /** Set by a client that can decide about calls where the session runs. */
  control: z
    .strictObject({
      /** All calls that wait for a decision now. They become approvals. */
      asks: z.array(callName).max(httpLimits.importAsksMax),
      /** Calls whose decision was delivered to the program since the last request. */
      delivered: z.array(callName).max(httpLimits.importAsksMax),
    })
    .nullable()
    .optional(),
});

/** The parsed body. */
export type ImportBody = z.output<typeof importBody>;

/** The response to an import. */
export const imported = z
  .strictObject({
    session_id: z.string(),
    /** The last imported line of each agent's file. */
    lines: z.record(z.string(), z.int()),
    /** The number of new steps. */
    taken: z.int(),
    /** The decisions about the calls in `asks`. */
    answers: z.array(
      callName.extend({
        result: z.enum(['allow', 'deny']),
        deny_message: z.string().nullable(),
        /** The input that replaces the input of an allowed call; null: unchanged. */
        updated_input: json.nullable(),
        /** Whether the denial also ends the turn. */
        interrupt: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'Imported' });
