import type OpenAI from 'openai';
import { expectTypeOf } from 'vitest';
import type { OutputItem, Response, ResponsesErrorBody, ResponsesEvent, ResponseUsage } from './wire.ts';

// What the scripted model sends, a reader of the official SDK's types can read.
type OpenAiEvent = OpenAI.Responses.ResponseStreamEvent;
expectTypeOf<OutputItem>().toExtend<OpenAI.Responses.ResponseOutputItem>();
expectTypeOf<ResponseUsage>().toExtend<OpenAI.Responses.ResponseUsage>();
expectTypeOf<ResponsesEvent['type']>().toExtend<OpenAiEvent['type']>();
expectTypeOf<ResponsesErrorBody['error']>().toExtend<Pick<OpenAI.ErrorObject, 'code' | 'message' | 'param' | 'type'>>();
// The SDK computes `output_text`, lists the codes of errors without those of streams, and omits that `usage` may be null.
type Same = Exclude<keyof Response, 'error' | 'usage'>;
expectTypeOf<Pick<Response, Same>>().toExtend<Pick<OpenAI.Responses.Response, Same>>();
// Events with an item or a text; those with a response differ by the fields above.
type WithResponse = { response: unknown };
expectTypeOf<Exclude<ResponsesEvent, WithResponse>>().toExtend<Exclude<OpenAiEvent, WithResponse>>();

// What comes back can be sent again.
expectTypeOf<OutputItem>().toExtend<OpenAI.Responses.ResponseInputItem>();
