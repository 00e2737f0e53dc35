import {
  type Environment,
  type EnvironmentResource,
  type EnvironmentResourcesParams,
  type EnvironmentWithResources,
  MERGE_TOOL,
  type Multiagent,
  type RosterIsolation,
  type RosterIsolationParams,
  type RosterReference,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';

expectTypeOf(MERGE_TOOL).toEqualTypeOf<string>();
expectTypeOf<RosterReference>().toExtend<RosterIsolation>();
expectTypeOf<Extract<Multiagent, { agents: unknown }>['agents'][number]>().toEqualTypeOf<RosterReference>();
expectTypeOf<{ isolation: 'worktree' }>().toExtend<RosterIsolationParams>();
// @ts-expect-error: a thread shares the workspace or has a worktree
expectTypeOf<{ isolation: 'container' }>().toExtend<RosterIsolationParams>();

expectTypeOf<EnvironmentWithResources>().toExtend<Environment>();
// Null removes the resources of an environment.
expectTypeOf<EnvironmentResourcesParams['resources']>().toEqualTypeOf<
  readonly EnvironmentResource[] | null | undefined
>();
