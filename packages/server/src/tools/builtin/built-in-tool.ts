import type { BuiltInToolName, WorkspaceToolName } from '@fleetloom/protocol/managed-agents';
import type { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { defineTool, type ToolDefinition, type ToolParts } from '../define-tool.ts';
import type { ResolveHost } from '../network/find-addresses.ts';
import type { NetworkRules } from '../network/network-rules.ts';
import type { Tool } from '../tool.ts';
import { oncePerLimits, type ToolLimits } from '../tool-limits.ts';
import type { ReadShownUrls } from './web-fetch/url-sources.ts';

/**
 * A built-in tool that runs in the tool host of the session. Its implementation is in `run-<tool>.ts` of the same folder, which
 * only the tool host loads.
 */
export interface HostTool<Input = unknown> {
  readonly name: WorkspaceToolName;
  /** The description for the model and the check of the input, built once for each set of limits. */
  readonly define: (limits: ToolLimits) => ToolDefinition<Input>;
}

/** Describes a tool that runs in the tool host. */
export function hostTool<Schema extends z.ZodObject>(
  name: WorkspaceToolName,
  describe: (limits: ToolLimits) => Omit<ToolParts<Schema>, 'name'>,
): HostTool<z.infer<Schema>> {
  return { name, define: oncePerLimits((limits) => defineTool({ name, ...describe(limits) })) };
}

/** A built-in tool that runs in the server and does not touch the files of the session. */
export interface ServerTool {
  readonly name: Exclude<BuiltInToolName, WorkspaceToolName>;
  /** Opens the tool for one session. */
  readonly open: (options: ServerToolOptions) => OpenServerTool;
}

/** What a server tool receives from the session and from the operator. */
export interface ServerToolOptions {
  readonly clock: Clock;
  readonly limits: ToolLimits;
  readonly allowedPrivateHosts: readonly string[];
  readonly resolveHost: ResolveHost;
  readonly network: NetworkRules;
  readonly readShownUrls: ReadShownUrls;
}

/** A server tool of one session, with its state between calls. */
export interface OpenServerTool {
  /** Creates the tool for an agent's configuration. */
  readonly toTool: (config: JsonObject) => Tool;
  /** Drops the state of a thread. */
  closeThread(threadId: string): void;
}
