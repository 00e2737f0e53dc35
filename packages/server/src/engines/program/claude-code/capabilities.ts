import { compareVersions } from '../launch/compare-versions.ts';
import type { ProgramCapabilities } from '../program-capabilities.ts';
import type { ProgramControl } from '../program-controls.ts';

/**
 * The differences between releases of the claude program. 2.1.197 and 2.1.325 were tested; a release between them
 * is treated as the older one unless it announces more.
 */
export interface Capabilities {
  /** Prints text and thinking of sub-agents in the foreground, if requested at the start of a session. Both releases have it. */
  readonly forwardsSubagentText: boolean;
  /** Prints text and thinking of sub-agents of sub-agents. Without it only their tasks are reported, and the gateway sees their text. */
  readonly forwardsNestedText: boolean;
  /** Has the flag `--forward-subagent-text` and its environment variable. */
  readonly hasForwardFlag: boolean;
  /** An interrupt spares agents in the background if requested (`perTaskStopAffordance`). */
  readonly sparesBackgroundAgents: boolean;
  /** Every line of a sub-agent has its `agent_id`. Without it, lines have only the id of the call that started the agent. */
  readonly namesAgentOnLines: boolean;
  /** The state of prompts sent with a `uuid` is reported: queued, started, completed. */
  readonly reportsPromptLifecycle: boolean;
  /** The response to an interrupt lists the prompts that still wait. */
  readonly reportsQueuedAfterInterrupt: boolean;
  /** A permission request comes after the line of its call, never before. */
  readonly asksAfterCall: boolean;
  /** A second `initialize` is answered with the open permission requests. */
  readonly reportsPendingRequests: boolean;
  /** A sub-agent starts in the background unless its call says otherwise. */
  readonly startsInBackground: boolean;
  /** The cost of a resumed session continues; without it, the cost starts at zero. */
  readonly costGoesOnAfterResume: boolean;
  /** The depth up to which agents may start agents, and whether CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH limits it. */
  readonly spawnDepthMax: number;
  readonly canLimitSpawnDepth: boolean;
  /**
   * Permission modes that a running session can be set to. The program has `bypassPermissions` too, but rejects it unless it was
   * started with a flag that would let it ignore the agent's definition.
   */
  readonly permissionModes: readonly string[];
  /** Maximum of sub-agents at the same time; null: no limit was found. */
  readonly subagentsMax: number | null;
  /** Waits at its end until all of its output was read. Without it stdin stays open until the last result has arrived. */
  readonly drainsAtExit: boolean;
  /** Control requests that the program answers outside of turns. */
  readonly controls: readonly ProgramControl[];
}

/** The capabilities of a release. `announced` is the list `capabilities` of the `init` line, if the line has one. */
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

/** The capabilities that both tested releases have when their requests pass the gateway. */
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
