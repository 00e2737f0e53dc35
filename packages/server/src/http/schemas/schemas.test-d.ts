import type {
  Agent,
  AgentCreateParams,
  AgentUpdateParams,
  DeletedEnvironment,
  Environment,
  EnvironmentCreateParams,
  EnvironmentResourcesParams,
  EnvironmentUpdateParams,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';
import type { z } from 'zod';
import type { agent, agentCreateBody, agentUpdateBody } from './agent.ts';
import type { deletedEnvironment, environment, environmentCreateBody, environmentUpdateBody } from './environment.ts';

// The schemas of the server accept exactly the types of the protocol package. Only `readonly` differs, which schemas cannot
// express.

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
// Neither side has an extra key: `toExtend` alone would accept an optional one.
expectTypeOf<keyof z.input<typeof agentCreateBody>>().toEqualTypeOf<keyof AgentCreateParams>();
expectTypeOf<keyof z.input<typeof agentUpdateBody>>().toEqualTypeOf<keyof AgentUpdateParams>();
expectTypeOf<keyof z.input<typeof environmentCreateBody>>().toEqualTypeOf<
  keyof (EnvironmentCreateParams & EnvironmentResourcesParams)
>();
expectTypeOf<keyof z.input<typeof environmentUpdateBody>>().toEqualTypeOf<
  keyof (EnvironmentUpdateParams & EnvironmentResourcesParams)
>();
