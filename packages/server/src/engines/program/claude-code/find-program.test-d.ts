import {
  type Capabilities,
  type ClaudeProgram,
  findClaudeProgram,
  type FindProgramOptions,
  type FoundProgram,
  type NoGateway,
  type ProgramProblem,
  type Upstream,
  whyNoGateway,
} from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

expectTypeOf(findClaudeProgram).toEqualTypeOf<(options?: FindProgramOptions) => Promise<FoundProgram>>();
expectTypeOf<FoundProgram>().toEqualTypeOf<
  | { readonly type: 'found'; readonly program: ClaudeProgram }
  | { readonly type: 'problem'; readonly problem: ProgramProblem }
>();
expectTypeOf<ClaudeProgram['supports']>().toEqualTypeOf<Capabilities>();
expectTypeOf<ProgramProblem['reason']>().toEqualTypeOf<
  'not_found' | 'not_executable' | 'no_answer' | 'not_claude' | 'too_old'
>();
expectTypeOf(whyNoGateway).parameter(1).toEqualTypeOf<Upstream>();
expectTypeOf(whyNoGateway).returns.toEqualTypeOf<NoGateway | undefined>();
// @ts-expect-error: a gateway needs to know whose credential goes up
whyNoGateway({}, { type: 'endpoint', baseURL: 'https://api.anthropic.com' });
