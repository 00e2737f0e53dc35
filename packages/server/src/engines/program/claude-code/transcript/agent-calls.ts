import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { toSaidDigest } from '../../ended-conversation.ts';
import { record, text } from '../../lines/values.ts';
import { blocksOf } from './silent-agent.ts';

/** A call that has started an agent, or may have started one. */
export interface AgentCall {
  readonly callId: string;
  readonly agentName: string | null;
  readonly description: string | null;
}

/** Records which agent made each call, and which agent each call started. */
export class AgentCalls {
  readonly #owners = new Map<string, string>();
  readonly #made = new Map<string, string>();
  /** Calls with a prompt, oldest first, by the digest of the prompt and by call. */
  readonly #byPrompt = new Map<string, Map<string, AgentCall>>();

  /** Records that the agent made the call. `input` is undefined if it is not known. */
  own(callId: string, key: string, input?: unknown): void {
    this.#owners.set(callId, key);
    const given = record(input);
    const prompt = text(given?.['prompt']);
    if (prompt === undefined) return;
    const agentName = text(given?.['subagent_type']) ?? null;
    const description = text(given?.['description']) ?? null;
    const digest = toSaidDigest('text', prompt);
    const calls = this.#byPrompt.get(digest) ?? new Map<string, AgentCall>();
    this.#byPrompt.set(digest, calls.set(callId, { callId, agentName, description }));
  }

  /** Records that the agent made the calls of this transcript record. */
  ownAll(transcribed: StreamJsonMessage, key: string): void {
    for (const block of blocksOf(transcribed)) {
      if (block['type'] === 'tool_use') this.own(String(block['id']), key, block['input']);
    }
  }

  /** Records that the call started the agent. False if the call has started another agent: each call starts one. */
  bind(callId: string, key: string): boolean {
    const made = this.#made.get(callId);
    this.#made.set(callId, made ?? key);
    return made === undefined || made === key;
  }

  ownerOf(callId: string | null): string | undefined {
    return this.#owners.get(callId ?? '');
  }

  agentOf(callId: string): string | undefined {
    return this.#made.get(callId);
  }

  /** The oldest call with this prompt that has not started an agent. */
  findByPrompt(prompt: string): AgentCall | undefined {
    const calls = [...(this.#byPrompt.get(toSaidDigest('text', prompt))?.values() ?? [])];
    return calls.find(({ callId }) => !this.#made.has(callId));
  }
}
