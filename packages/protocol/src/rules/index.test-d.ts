import type { RuleMatch } from '@fleetloom/protocol/fleet';
import {
  canHaveRules,
  leavesDirectory,
  proposeRule,
  type RuleSubject,
  ruleSubjectOf,
  toSimpleCommand,
} from '@fleetloom/protocol/rules';
import { expectTypeOf } from 'vitest';

expectTypeOf(canHaveRules).toEqualTypeOf<(tool: string) => boolean>();
expectTypeOf(proposeRule).returns.toEqualTypeOf<RuleMatch | null>();
expectTypeOf(ruleSubjectOf).toEqualTypeOf<(tool: string) => RuleSubject>();
expectTypeOf<RuleSubject['type']>().toEqualTypeOf<'command' | 'path' | 'input'>();
expectTypeOf(leavesDirectory).toEqualTypeOf<(word: string) => boolean>();
expectTypeOf(toSimpleCommand).toEqualTypeOf<(text: string) => string | null>();
