import type {
  Agent,
  AgentCreateParams,
  AgentUpdateParams,
  DeletedEnvironment,
  Environment,
  EnvironmentCreateParams,
  EnvironmentUpdateParams,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';
import type { z } from 'zod';
import type { agent, agentCreateBody, agentUpdateBody } from './agent.ts';
import type { deletedEnvironment, environment, environmentCreateBody, environmentUpdateBody } from './environment.ts';

// The schemas at the door and the wire contract say the same: whatever the contract allows passes, and whatever passes is
// in the contract. Only `readonly` differs, which schemas do not say.

type Mutable<Value> = Value extends object ? { -readonly [Key in keyof Value]: Mutable<Value[Key]> } : Value;

expectTypeOf<z.output<typeof agentCreateBody>>().toExtend<AgentCreateParams>();
expectTypeOf<Mutable<AgentCreateParams>>().toExtend<z.input<typeof agentCreateBody>>();
expectTypeOf<z.output<typeof agentUpdateBody>>().toExtend<AgentUpdateParams>();
expectTypeOf<Mutable<AgentUpdateParams>>().toExtend<z.input<typeof agentUpdateBody>>();
expectTypeOf<z.output<typeof agent>>().toExtend<Agent>();
expectTypeOf<Mutable<Agent>>().toExtend<z.input<typeof agent>>();

expectTypeOf<z.output<typeof environmentCreateBody>>().toExtend<EnvironmentCreateParams>();
expectTypeOf<Mutable<EnvironmentCreateParams>>().toExtend<z.input<typeof environmentCreateBody>>();
expectTypeOf<z.output<typeof environmentUpdateBody>>().toExtend<EnvironmentUpdateParams>();
expectTypeOf<Mutable<EnvironmentUpdateParams>>().toExtend<z.input<typeof environmentUpdateBody>>();
expectTypeOf<z.output<typeof environment>>().toExtend<Environment>();
expectTypeOf<Mutable<Environment>>().toExtend<z.input<typeof environment>>();
expectTypeOf<z.output<typeof deletedEnvironment>>().toEqualTypeOf<Mutable<DeletedEnvironment>>();
// No key more on either side: `toExtend` alone would overlook one that is optional.
expectTypeOf<keyof z.input<typeof agentCreateBody>>().toEqualTypeOf<keyof AgentCreateParams>();
expectTypeOf<keyof z.input<typeof agentUpdateBody>>().toEqualTypeOf<keyof AgentUpdateParams>();
expectTypeOf<keyof z.input<typeof environmentCreateBody>>().toEqualTypeOf<keyof EnvironmentCreateParams>();
expectTypeOf<keyof z.input<typeof environmentUpdateBody>>().toEqualTypeOf<keyof EnvironmentUpdateParams>();
