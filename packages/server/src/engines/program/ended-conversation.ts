import { createHash } from 'node:crypto';
import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { Json } from '../../base/json/json.ts';
import type { ProgramOwner } from './program-owner.ts';

/** A conversation whose program has ended while turns were open, with its content in the log. */
export interface EndedConversation extends ProgramOwner {
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  /** The program's id of the conversation. */
  readonly conversation: string;
  /** The threads of all agents of the conversation, by key. */
  readonly threads: ReadonlyMap<string, LoggedThread>;
}

export interface LoggedThread {
  readonly agentName: string;
  /** The key of the parent thread; null for the main agent. */
  readonly parentKey: string | null;
  /** The call that started the agent; null if there was none. */
  readonly callId: string | null;
  /** The content of the thread; null if no turn of the thread is open, so nothing can be added. */
  readonly open: LoggedContent | null;
}

/** The content of a thread in the log, over all its turns. */
export interface LoggedContent {
  /** Whether a model request is open. */
  readonly hasRequest: boolean;
  /** How often each text, thinking and opaque block was logged, by `toSaidDigest`. */
  readonly said: ReadonlyMap<string, number>;
  readonly calls: ReadonlySet<string>;
  /** Inputs of the calls without a result, by call. */
  readonly inputs: ReadonlyMap<string, Json>;
  readonly results: ReadonlySet<string>;
  /** Calls that wait for a decision or a result of a client. */
  readonly waiting: ReadonlySet<string>;
}

/** The digest of a block's content. Callers pass only the kind of an opaque block as its content. */
export function toSaidDigest(kind: 'text' | 'thinking' | 'opaque', content: string): string {
  return createHash('sha256').update(`${kind} ${content}`).digest('base64').slice(0, DIGEST_CHARS);
}

const DIGEST_CHARS = 22;
