import { compareVersions } from '../launch/compare-versions.ts';
import type { ProgramCapabilities } from '../program-capabilities.ts';
import type { ProgramControl } from '../program-controls.ts';

/**
 * The differences between releases of the claude program. 2.1.197 and 2.1.325 were tested; a release between them
 * is treated as the older one unless it announces more.
 */
export interface Capabilities {
  /** Text and thoughts of sub-agents in the foreground, if requested at the start of a session. Both releases have it. */
  readonly forwardsSubagentText: boolean;
  /** The same for sub-agents of sub-agents. Without it only their tasks are reported, and the gateway sees their text. */
  readonly forwardsNestedText: boolean;
  /** `--forward-subagent-text` and its variable. */
  readonly hasForwardFlag: boolean;
  /** An interrupt spares agents in the background if requested (`perTaskStopAffordance`). */
  readonly sparesBackgroundAgents: boolean;
  /** Every line of a sub-agent names it (`agent_id`). Without it only the call that started it does. */
  readonly namesAgentOnLines: boolean;
  /** The state of prompts sent with a `uuid` is reported: queued, started, completed. */
  readonly reportsPromptLifecycle: boolean;
  /** The answer to an interrupt lists the prompts that still wait. */
  readonly reportsQueuedAfterInterrupt: boolean;
  /** A permission request comes after the call that it is for, never before. */
  readonly asksAfterCall: boolean;
  /** A second `initialize` is answered with the open permission requests. */
  readonly reportsPendingRequests: boolean;
  /** An agent whose call does not choose starts in the background. */
  readonly startsInBackground: boolean;
  /** The cost of a resumed session continues; without it, the cost starts at zero. */
  readonly costGoesOnAfterResume: boolean;
  /** How deep agents may start agents, and whether CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH changes it. */
  readonly spawnDepthMax: number;
  readonly canLimitSpawnDepth: boolean;
  /**
   * Permission modes that a running session can be put into. The program has `bypassPermissions` too, but refuses it unless it was
   * started with a flag that would let it ignore the agent's definition.
   */
  readonly permissionModes: readonly string[];
  /** Sub-agents at the same time; null: no limit was found. */
  readonly subagentsMax: number | null;
  /** Waits at its end until all of its output was read. Without it stdin stays open until the last result has arrived. */
  readonly drainsAtExit: boolean;
  /** Control requests that it answers outside of turns. */
  readonly controls: readonly ProgramControl[];
}

/** The capabilities of a release. `announced` is the list `capabilities` of the `init` line, where there is one. */
export function capabilitiesOf(version: string, announced: readonly string[] = []): Capabilities {
  const isNew = compareVersions(version, FIRST_NEW) >= 0;
  return {
    forwardsSubagentText: true,
    forwardsNestedText: isNew,
    hasForwardFlag: isNew,
    sparesBackgroundAgents: isNew,
    namesAgentOnLines: isNew,
    reportsPromptLifecycle: isNew || announced.includes('msg_lifecycle_v1'),
    reportsQueuedAfterInterrupt: isNew || announced.includes('interrupt_receipt_v1'),
    asksAfterCall: isNew,
    reportsPendingRequests: isNew,
    startsInBackground: isNew,
    costGoesOnAfterResume: isNew,
    spawnDepthMax: isNew ? 3 : 5,
    canLimitSpawnDepth: isNew,
    permissionModes: ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', ...(isNew ? ['manual'] : [])],
    subagentsMax: isNew ? 20 : null,
    drainsAtExit: isNew,
    controls: isNew ? ['usage', 'diff', 'rewind'] : ['usage', 'rewind'],
  };
}

/** What both tested releases can do, in front of the gateway. */
export const programCapabilities: ProgramCapabilities = {
  subAgentText: 'deltas',
  roster: true,
  subAgentReport: 'result',
  approvals: 'definition',
  denialReason: 'result',
  changedInput: true,
  questions: true,
  customTools: 'all_agents',
  systemPrompt: 'system',
  commandOutput: 'at_end',
  plans: false,
  steering: 'turn',
  modelChange: 'request',
  requestUsage: 'at_end',
  stopReasons: true,
  failureStatus: true,
  waitsForReader: true,
  resume: 'always',
  fork: true,
  recovery: true,
};

/** The oldest release that was tested. Earlier releases differ in ways that were not examined. */
export const OLDEST_VERSION = '2.1.197';
const FIRST_NEW = '2.1.325';
/** The newest release that was tested. */
export const NEWEST_VERSION = FIRST_NEW;
