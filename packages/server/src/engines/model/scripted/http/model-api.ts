import { type Refusal, toErrorBody } from '../failure.ts';
import { MessageFold } from '../fold-message.ts';
import type { Plan } from '../plan/plan.ts';
import { ResponsesEncoder } from '../responses/encoder.ts';
import { toResponsesError } from '../responses/error-body.ts';
import type { MessagesEvent, PingEvent } from '../wire.ts';

/** One of the HTTP APIs of the scripted model. */
export interface ModelApi {
  readonly name: 'messages' | 'responses';
  readonly requestIdHeader: string;
  readonly toErrorBody: (refusal: Refusal) => object;
  readonly createEncoder: (plan: Plan) => AnswerEncoder;
}

/** Encodes the events of a plan in the format of the API. */
export interface AnswerEncoder {
  add(events: readonly (MessagesEvent | PingEvent)[]): readonly StreamEvent[];
  /** The events of a failure after the first event. */
  fail(refusal: Refusal): readonly StreamEvent[];
  /** The whole response, for a client that did not request a stream. */
  finish(): object;
}

/** An event of a stream. */
export interface StreamEvent {
  readonly type: string;
}

/** Anthropic's Messages API. */
export const messagesApi: ModelApi = {
  name: 'messages',
  requestIdHeader: 'request-id',
  toErrorBody,
  createEncoder: ({ stream }) => {
    const fold = new MessageFold();
    return {
      add: (events) => {
        if (!stream) fold.add(events);
        return events;
      },
      fail: (refusal) => [toErrorBody(refusal)],
      finish: () => fold.finish(),
    };
  },
};

/** OpenAI's Responses API. */
export const responsesApi: ModelApi = {
  name: 'responses',
  requestIdHeader: 'x-request-id',
  toErrorBody: toResponsesError,
  createEncoder: (plan) => new ResponsesEncoder(plan),
};
