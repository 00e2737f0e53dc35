import { createHash } from 'node:crypto';
import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { Json } from '../../base/json/json.ts';
import type { ProgramOwner } from './program-owner.ts';

/** A conversation whose program has ended while turns were open, and what the log has of it. */
export interface EndedConversation extends ProgramOwner {
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  /** How the program named it. */
  readonly conversation: string;
  /** Every agent of the conversation that has a thread, by its key. */
  readonly threads: ReadonlyMap<string, LoggedThread>;
}

export interface LoggedThread {
  readonly agentName: string;
  /** Null for the main agent. */
  readonly parentKey: string | null;
  /** The call that made it; null if there was none. */
  readonly callId: string | null;
  /** Null if no turn of the thread is open: nothing can be added to it. */
  readonly open: LoggedContent | null;
}

/** What the log has of a thread, over all its turns. */
export interface LoggedContent {
  /** A model request is open. */
  readonly hasRequest: boolean;
  /** How often each text, thought and opaque block was logged, by `toSaidDigest`. */
  readonly said: ReadonlyMap<string, number>;
  readonly calls: ReadonlySet<string>;
  /** Inputs of the calls without a result, by call. */
  readonly inputs: ReadonlyMap<string, Json>;
  readonly results: ReadonlySet<string>;
  /** Calls that wait for a decision or a result from outside. */
  readonly waiting: ReadonlySet<string>;
}

/** A name for what an agent said. Of opaque blocks only the kind is compared. */
export function toSaidDigest(kind: 'text' | 'thinking' | 'opaque', content: string): string {
  return createHash('sha256').update(`${kind} ${content}`).digest('base64').slice(0, DIGEST_CHARS);
}

const DIGEST_CHARS = 22;
