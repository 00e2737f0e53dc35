import { deltaTypes, eventTypes } from '@fleetloom/protocol/managed-agents';
import { z } from 'zod';
import { httpLimits } from '../limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { createdBetween, pageQuery } from '../paging/paging.ts';
import { json } from './common.ts';
import { messageBlock, resultBlock, textBlock } from './content.ts';

const eventId = z.string().min(1).max(httpLimits.pathIdCharsMax);
/** Older clients name the thread; an empty string counts as absent. */
const ofThread = { session_thread_id: z.string().max(httpLimits.pathIdCharsMax).nullable().exactOptional() };
const resultFields = {
  content: z.array(resultBlock).exactOptional(),
  is_error: z.boolean().nullable().exactOptional(),
};

/** A message to the coordinator. */
export const userMessageParams = z.strictObject({
  type: z.literal('user.message'),
  content: z.array(messageBlock).min(1),
});

const rubric = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), content: z.string() }),
  z.strictObject({ type: z.literal('file'), file_id: z.string() }),
]);
/** An event that is not supported. The schema accepts it so that the error can name the type. */
export const defineOutcomeParams = z.strictObject({
  type: z.literal('user.define_outcome'),
  description: z.string(),
  rubric,
  max_iterations: z.int().nullable().exactOptional(),
});

/** An event that a client may send. */
export const clientEventParams = z.discriminatedUnion('type', [
  userMessageParams,
  z.strictObject({ type: z.literal('user.interrupt'), ...ofThread }),
  z
    .strictObject({
      type: z.literal('user.tool_confirmation'),
      tool_use_id: eventId,
      result: z.enum(['allow', 'deny']),
      deny_message: z.string().nullable().exactOptional(),
      rule: z.string().min(1).max(httpLimits.ruleCharsMax).nullable().exactOptional(),
      updated_input: z.record(z.string(), json).nullable().exactOptional(),
      interrupt: z.boolean().nullable().exactOptional(),
      ...ofThread,
    })
    .refine(({ result, updated_input: input }) => result === 'allow' || input === undefined || input === null, {
      path: ['updated_input'],
      message: 'is only for result allow',
    })
    .refine(({ result, interrupt }) => result === 'deny' || interrupt !== true, {
      path: ['interrupt'],
      message: 'is only for result deny',
    })
    .refine(({ result, deny_message: text }) => result === 'deny' || text === undefined || text === null, {
      path: ['deny_message'],
      message: 'is only for result deny',
    }),
  z.strictObject({
    type: z.literal('user.custom_tool_result'),
    custom_tool_use_id: eventId,
    ...resultFields,
    ...ofThread,
  }),
  z.strictObject({ type: z.literal('user.tool_result'), tool_use_id: eventId, ...resultFields, ...ofThread }),
  defineOutcomeParams,
  z.strictObject({
    type: z.literal('system.message'),
    content: z.array(textBlock).min(1).max(httpLimits.systemBlocksMax),
  }),
]);

/** A message to one thread: text only. Files and images are sent to the coordinator, which passes them on. */
export const threadMessageBody = z.strictObject({ content: z.array(textBlock).min(1) });

/** The body of `POST …/events`. */
export const eventSendBody = z.strictObject({
  events: z.array(clientEventParams).min(1).max(httpLimits.sentEventsMax),
});

const pages = pageQuery({ max: storeLimits.pageItemsMax, normally: storeLimits.pageItemsMax });

/** The query of `GET …/events`. */
export const eventListQuery = z.strictObject({
  ...pages,
  ...createdBetween,
  order: z.enum(['asc', 'desc']).default('asc'),
  types: z.array(z.enum(eventTypes)).exactOptional(),
});
/** The query of `GET …/threads/{thread_id}/events`. */
export const threadEventListQuery = z.strictObject(pages);

/** The query of `GET …/events/stream`. */
export const eventStreamQuery = z.strictObject({
  event_deltas: z.array(z.enum(deltaTypes)).max(httpLimits.queryValuesMax).default([]),
});

/** An event in responses. Its fields depend on its type; the protocol package defines them. */
export const wireEvent = z
  .looseObject({ type: z.string(), id: z.string(), processed_at: z.string().nullable() })
  .meta({ id: 'SessionEvent' });
/** The response to sent events. */
export const sentEvents = z.strictObject({ data: z.array(wireEvent) });
