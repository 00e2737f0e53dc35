import type { ModelConfig, ModelConfigParams } from './model.ts';
import type { Multiagent, MultiagentParams } from './multiagent.ts';
import type { PageParams } from './page.ts';
import type { McpServer, Tool, ToolParams } from './tool.ts';

/**
 * What a thread runs: an agent at one version, without its roster, its metadata and its times. A session keeps it from
 * its creation on, whatever becomes of the agent.
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

/** One version of an agent. All keys are always there. */
export interface Agent extends AgentSnapshot {
  readonly multiagent: Multiagent | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  /** When this version was made. */
  readonly updated_at: string;
  readonly archived_at: string | null;
}

export interface AgentReference {
  readonly type: 'agent';
  readonly id: string;
  readonly version: number;
}
/** Without a version the newest one is meant. */
export interface AgentReferenceParams {
  readonly type: 'agent';
  readonly id: string;
  readonly version?: number;
}

export interface Skill {
  readonly type: 'anthropic' | 'custom';
  readonly skill_id: string;
  /** `latest` if none was named: there is no registry that could say which one that is. */
  readonly version: string;
}
export interface SkillParams {
  readonly type: 'anthropic' | 'custom';
  readonly skill_id: string;
  readonly version?: string | null;
}

/** As whom an agent acts. Here that is always the server itself. */
export interface ExecutionIdentity {
  readonly type: 'service_account';
}
export type ExecutionIdentityParams = ExecutionIdentity | { readonly type: 'aws_role'; readonly role_arn: string };

/** `POST /v1/agents` */
export interface AgentCreateParams {
  readonly name: string;
  readonly model: string | ModelConfigParams;
  readonly description?: string | null;
  readonly system?: string | null;
  readonly tools?: readonly ToolParams[];
  readonly mcp_servers?: readonly McpServer[];
  readonly skills?: readonly SkillParams[];
  readonly multiagent?: MultiagentParams | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly execution_identity?: ExecutionIdentityParams | null;
}

/** `POST /v1/agents/{id}`. What is left out keeps its value. */
export interface AgentUpdateParams {
  readonly name?: string;
  readonly model?: string | ModelConfigParams;
  readonly description?: string | null;
  readonly system?: string | null;
  readonly tools?: readonly ToolParams[] | null;
  readonly mcp_servers?: readonly McpServer[] | null;
  readonly skills?: readonly SkillParams[] | null;
  readonly multiagent?: MultiagentParams | null;
  /** Key by key; null removes one. */
  readonly metadata?: Readonly<Record<string, string | null>> | null;
  readonly execution_identity?: ExecutionIdentityParams | null;
  /** The version that the caller has read. Another one by now refuses the update. */
  readonly version?: number;
}

/** `GET /v1/agents/{id}` */
export interface AgentRetrieveParams {
  readonly version?: number;
}

/** `GET /v1/agents` */
export interface AgentListParams extends PageParams {
  readonly include_archived?: boolean;
  readonly 'created_at[gte]'?: string;
  readonly 'created_at[lte]'?: string;
}

/** `GET /v1/agents/{id}/versions` */
export type AgentVersionListParams = PageParams;
