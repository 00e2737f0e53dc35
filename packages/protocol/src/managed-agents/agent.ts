import type { AgentSnapshot, ExecutionIdentityParams, SkillParams } from './agent-snapshot.ts';
import type { ModelConfigParams } from './model.ts';
import type { Multiagent, MultiagentParams } from './multiagent.ts';
import type { PageParams } from './page.ts';
import type { McpServer, ToolParams } from './tool.ts';

/** One version of an agent. All fields are always present. */
export interface Agent extends AgentSnapshot {
  readonly multiagent: Multiagent | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  /** When this version was created. */
  readonly updated_at: string;
  readonly archived_at: string | null;
}

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

/** `POST /v1/agents/{id}`. Absent fields keep their value. */
export interface AgentUpdateParams {
  readonly name?: string;
  readonly model?: string | ModelConfigParams;
  readonly description?: string | null;
  readonly system?: string | null;
  readonly tools?: readonly ToolParams[] | null;
  readonly mcp_servers?: readonly McpServer[] | null;
  readonly skills?: readonly SkillParams[] | null;
  readonly multiagent?: MultiagentParams | null;
  /** Merged key by key; null removes a key. */
  readonly metadata?: Readonly<Record<string, string | null>> | null;
  readonly execution_identity?: ExecutionIdentityParams | null;
  /** The version that the caller has read. If it is not the newest any more, the update is rejected. */
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
