import { isDeepStrictEqual } from 'node:util';
import { limits } from '../../base/limits.ts';
import type { CallAnswer, CallName, ControlReport } from '../step-sender.ts';
import type { OpenCall } from '../transcript-translator.ts';
import type { HookServer, PromptDecision, TerminalPrompt } from './hook-server.ts';

/** An open call of an agent of the session. */
type AgentCall = OpenCall & { readonly key: string };

/** Matches the permission prompts of one session to its open calls, and sends the decisions to the program. */
export class SessionControl {
  readonly #hooks: Pick<HookServer, 'prompts'>;
  readonly #session: string;
  readonly #joined = new Map<TerminalPrompt, CallName>();
  #delivered: CallName[] = [];
  #reported = '';

  constructor(hooks: Pick<HookServer, 'prompts'>, session: string) {
    this.#hooks = hooks;
    this.#session = session;
  }

  /** Looks for new prompts and for prompts that were decided elsewhere. A prompt has no call id, so it is matched by tool and input. */
  update(calls: readonly AgentCall[], now: number): void {
    const prompts = this.#hooks.prompts.filter(({ session }) => session === this.#session);
    for (const [prompt, { key, call_id: id }] of this.#joined) {
      const isOpen = calls.some((call) => call.key === key && call.id === id);
      if (isOpen && !prompt.isGone) continue;
      this.#joined.delete(prompt);
      prompt.answer(null);
    }
    for (const prompt of prompts.filter((each) => !this.#joined.has(each))) {
      const taken = [...this.#joined.values()];
      const call = calls.find(
        ({ key, id, name, input }) =>
          name === prompt.tool &&
          isDeepStrictEqual(input, prompt.input) &&
          !taken.some((each) => each.key === key && each.call_id === id),
      );
      if (call !== undefined) this.#joined.set(prompt, { key: call.key, call_id: call.id });
      // The transcript does not contain the call, so only the terminal can decide.
      else if (now - prompt.since >= limits.attachPromptMs) prompt.answer(null);
    }
  }

  /** Whether a report to the server is due, or a request for decisions. */
  isDue(sinceMs: number): boolean {
    if (this.#delivered.length > 0 || JSON.stringify(this.#asks) !== this.#reported) return true;
    return this.#joined.size > 0 && sinceMs >= limits.attachAskMs;
  }

  get report(): ControlReport {
    return { asks: this.#asks.slice(0, limits.attachAsksMax), delivered: this.#delivered };
  }

  /** Handles the server's response to a report. */
  take({ asks, delivered }: ControlReport, answers: readonly CallAnswer[]): void {
    this.#reported = JSON.stringify(asks);
    this.#delivered = this.#delivered.filter((each) => !delivered.includes(each));
    for (const answer of answers) {
      const { key, call_id } = answer;
      const [prompt] = [...this.#joined].find(([, call]) => call.key === key && call.call_id === call_id) ?? [];
      if (prompt === undefined || prompt.isGone) continue;
      prompt.answer(toDecision(answer));
      this.#joined.delete(prompt);
      this.#delivered.push({ key, call_id });
    }
  }

  get #asks(): readonly CallName[] {
    return [...this.#joined.values()];
  }
}

function toDecision({ result, deny_message: message, updated_input, interrupt }: CallAnswer): PromptDecision {
  if (result === 'allow') {
    const isChanged = updated_input !== null && updated_input !== undefined;
    return { behavior: 'allow', ...(isChanged ? { updatedInput: updated_input } : {}) };
  }
  return {
    behavior: 'deny',
    message: message ?? 'The user refused this call.',
    ...(interrupt ? { interrupt: true as const } : {}),
  };
}
