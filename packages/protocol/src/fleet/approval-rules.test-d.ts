import type {
  CreatedRule,
  RuleMatch,
  RulePreview,
  RuleScope,
  StandingRule,
  StandingRuleList,
  StandingRuleParams,
} from '@fleetloom/protocol/fleet';
import { expectTypeOf } from 'vitest';

expectTypeOf<StandingRule['scope']>().toEqualTypeOf<RuleScope>();
expectTypeOf<StandingRule['match']>().toEqualTypeOf<RuleMatch>();
expectTypeOf<StandingRuleList['data']>().toEqualTypeOf<readonly StandingRule[]>();
expectTypeOf<CreatedRule>().toExtend<StandingRule>();
expectTypeOf<RulePreview['matches']>().toEqualTypeOf<number>();
// The server knows who creates a rule.
expectTypeOf<StandingRuleParams>().not.toHaveProperty('created_by');
// @ts-expect-error: a rule always has a scope
expectTypeOf<RuleScope>().toEqualTypeOf<null>();
