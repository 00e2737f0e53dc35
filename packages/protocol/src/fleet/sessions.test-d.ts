import {
  type ChangesMerged,
  type FacetCount,
  type FileCounts,
  type FleetBudget,
  type FleetCostGroup,
  type FleetCosts,
  type FleetCostsQuery,
  type FleetSession,
  type FleetSessionFacets,
  type FleetSessionList,
  type FleetSessionQuery,
  type FleetSessionSort,
  type FleetSessionState,
  isSessionId,
  type SessionFacts,
  sessionStateAt,
  sessionStates,
  stateOfSession,
  type StoredSessionState,
  type ThreadWorktree,
  toIdPrefix,
  toSessionName,
  toSessionState,
  toShortId,
} from '@fleetloom/protocol/fleet';
import { expectTypeOf } from 'vitest';

// One state in one set of words; only `stalled` depends on the time.
expectTypeOf<keyof typeof sessionStates>().toEqualTypeOf<FleetSessionState>();
expectTypeOf<StoredSessionState | 'stalled'>().toEqualTypeOf<FleetSessionState>();
expectTypeOf(toSessionState).toEqualTypeOf<(facts: SessionFacts) => StoredSessionState>();
expectTypeOf(sessionStateAt).returns.toEqualTypeOf<FleetSessionState>();
expectTypeOf(stateOfSession).returns.toEqualTypeOf<FleetSessionState>();
expectTypeOf<FleetSession['state']>().toEqualTypeOf<FleetSessionState>();

expectTypeOf(toSessionName).returns.toEqualTypeOf<string>();
expectTypeOf(toShortId).toEqualTypeOf<(id: string) => string>();
expectTypeOf(toIdPrefix).toEqualTypeOf<(typed: string) => string | undefined>();
expectTypeOf(isSessionId).toEqualTypeOf<(text: string) => boolean>();

expectTypeOf<FleetSessionList['data']>().toEqualTypeOf<readonly FleetSession[]>();
expectTypeOf<FleetSessionList['facets']>().toEqualTypeOf<FleetSessionFacets>();
expectTypeOf<FleetSessionFacets['agents']>().toEqualTypeOf<readonly FacetCount[]>();
expectTypeOf<FleetSessionQuery['sort']>().toEqualTypeOf<FleetSessionSort | undefined>();
// @ts-expect-error: sessions are not sorted by their id
expectTypeOf<FleetSessionSort>().toEqualTypeOf<'id'>();

expectTypeOf<ThreadWorktree>().toExtend<FileCounts>();
expectTypeOf<ChangesMerged>().toExtend<FileCounts>();
expectTypeOf<ChangesMerged['cursor']>().toEqualTypeOf<string | null>();

expectTypeOf<FleetCosts['groups']>().toEqualTypeOf<readonly FleetCostGroup[]>();
expectTypeOf<FleetCosts['budgets']>().toEqualTypeOf<readonly FleetBudget[]>();
expectTypeOf<FleetCostsQuery['utc_offset_minutes']>().toEqualTypeOf<number | undefined>();
