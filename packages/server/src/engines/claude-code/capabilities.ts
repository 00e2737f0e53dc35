/**
 * What a release of the claude program can do that others cannot. 2.1.197 and 2.1.325 were tried; a release between them
 * is taken for the older one unless it says more about itself.
 */
export interface Capabilities {
  /** Text and thoughts of sub-agents in the foreground, asked for when a session begins. Both have it. */
  readonly forwardsSubagentText: boolean;
  /** The same of sub-agents of sub-agents. Without it only their tasks are told, and the gateway sees their text. */
  readonly forwardsNestedText: boolean;
  /** `--forward-subagent-text` and its variable. */
  readonly hasForwardFlag: boolean;
  /** An interrupt spares agents in the background if that is asked for (`perTaskStopAffordance`). */
  readonly sparesBackgroundAgents: boolean;
  /** Every line of a sub-agent names it (`agent_id`). Without it only the call that started it does. */
  readonly namesAgentOnLines: boolean;
  /** Prompts sent with a `uuid` are told of: queued, started, completed. */
  readonly tellsPromptLifecycle: boolean;
  /** The answer to an interrupt says which prompts still wait. */
  readonly tellsQueuedAfterInterrupt: boolean;
  /** A permission request comes after the call that it is for, never before. */
  readonly asksAfterCall: boolean;
  /** Says `initialize` again and is told which permission requests are open. */
  readonly tellsPendingRequests: boolean;
  /** An agent whose call does not say where it runs goes to the background. */
  readonly startsInBackground: boolean;
  /** The cost of a resumed session goes on where it was; without it, it starts afresh. */
  readonly costGoesOnAfterResume: boolean;
  /** How deep agents may start agents, and whether CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH changes it. */
  readonly spawnDepthMax: number;
  readonly canLimitSpawnDepth: boolean;
  /**
   * Permission modes that a running session can be put into. The program has `bypassPermissions` too, but refuses it unless it was
   * started with a flag that would let it ignore the agent's definition.
   */
  readonly permissionModes: readonly string[];
  /** Sub-agents at the same time; null: no limit was met. */
  readonly subagentsMax: number | null;
  /** Waits at its end until everything it said was read. Without it stdin stays open until the last result is here. */
  readonly drainsAtExit: boolean;
}

/** `told` is what `init` lists as `capabilities`, for releases that do. */
export function capabilitiesOf(version: string, told: readonly string[] = []): Capabilities {
  const isNew = compareVersions(version, FIRST_NEW) >= 0;
  return {
    forwardsSubagentText: true,
    forwardsNestedText: isNew,
    hasForwardFlag: isNew,
    sparesBackgroundAgents: isNew,
    namesAgentOnLines: isNew,
    tellsPromptLifecycle: isNew || told.includes('msg_lifecycle_v1'),
    tellsQueuedAfterInterrupt: isNew || told.includes('interrupt_receipt_v1'),
    asksAfterCall: isNew,
    tellsPendingRequests: isNew,
    startsInBackground: isNew,
    costGoesOnAfterResume: isNew,
    spawnDepthMax: isNew ? 3 : 5,
    canLimitSpawnDepth: isNew,
    permissionModes: ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', ...(isNew ? ['manual'] : [])],
    subagentsMax: isNew ? 20 : null,
    drainsAtExit: isNew,
  };
}

/** The oldest release that was tried. What came before differs in ways that nobody looked at. */
export const OLDEST_VERSION = '2.1.197';
const FIRST_NEW = '2.1.325';
/** The newest release that was tried. */
export const NEWEST_VERSION = FIRST_NEW;

/** Below 0, 0 or above 0, as `sort` wants it. What follows the three numbers does not count. */
export function compareVersions(a: string, b: string): number {
  const left = toNumbers(a);
  const right = toNumbers(b);
  for (const [at, number] of left.entries()) {
    if (number !== right[at]) return number - (right[at] ?? 0);
  }
  return 0;
}

function toNumbers(version: string): number[] {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return [0, 1, 2].map((at) => Number(parts[at] ?? 0));
}
