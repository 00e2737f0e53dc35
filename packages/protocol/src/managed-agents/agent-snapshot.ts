import type { ModelConfig } from './model.ts';
import type { McpServer, Tool } from './tool.ts';

/**
 * The agent of a thread: one version, without its roster, metadata and times. A session keeps it from its creation on,
 * also if the agent changes.
 */
export interface AgentSnapshot {
  readonly type: 'agent';
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly description: string | null;
  readonly system: string | null;
  readonly model: ModelConfig;
  readonly tools: readonly Tool[];
  readonly mcp_servers: readonly McpServer[];
  readonly skills: readonly Skill[];
  readonly execution_identity: ExecutionIdentity;
}

/** An agent at one version. */
export interface AgentReference {
  readonly type: 'agent';
  readonly id: string;
  readonly version: number;
}
/** An agent; without a version, its newest one. */
export interface AgentReferenceParams {
  readonly type: 'agent';
  readonly id: string;
  readonly version?: number;
}

/** A skill of an agent. */
export interface Skill {
  readonly type: 'anthropic' | 'custom';
  readonly skill_id: string;
  /** `latest` if none was given: there is no registry to resolve it. */
  readonly version: string;
}
/** A skill as a client sends it. */
export interface SkillParams {
  readonly type: 'anthropic' | 'custom';
  readonly skill_id: string;
  readonly version?: string | null;
}

/** The identity under which an agent acts: always the server itself. */
export interface ExecutionIdentity {
  readonly type: 'service_account';
}
/** The identity of an agent as a client sends it. */
export type ExecutionIdentityParams = ExecutionIdentity | { readonly type: 'aws_role'; readonly role_arn: string };
