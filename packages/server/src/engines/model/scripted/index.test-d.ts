import {
  type AskOptions,
  createScriptedHandler,
  createScriptedModel,
  type ScriptedHandler,
  type ScriptedHandlerOptions,
  type ScriptedModel,
  ScriptedModelError,
  type ScriptedModelOptions,
  type ScriptedModelServer,
  type ServeScriptedModelOptions,
  serveScriptedModel,
} from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

expectTypeOf(createScriptedModel).toEqualTypeOf<(options?: ScriptedModelOptions) => ScriptedModel>();
expectTypeOf<ScriptedModel['stream']>().parameter(1).toEqualTypeOf<AskOptions | undefined>();
expectTypeOf<ScriptedModel['countTokens']>().returns.resolves.toEqualTypeOf<{ input_tokens: number }>();
expectTypeOf(createScriptedHandler).toEqualTypeOf<(options: ScriptedHandlerOptions) => ScriptedHandler>();
expectTypeOf(serveScriptedModel).toEqualTypeOf<(options?: ServeScriptedModelOptions) => Promise<ScriptedModelServer>>();
expectTypeOf<ScriptedModelServer['url']>().toEqualTypeOf<string>();
expectTypeOf<ScriptedModelError>().toExtend<Error>();
expectTypeOf<ScriptedModelError['failure']['type']>().toEqualTypeOf<'refused' | 'cut'>();
export const error = new ScriptedModelError({ type: 'cut' });
