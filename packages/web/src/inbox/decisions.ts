import { toRuleText } from '@fleetloom/protocol/fleet';
import type { ClientEventParams } from '@fleetloom/protocol/managed-agents';
import { api } from '../connection/api.ts';
import { Signal } from '../app/signal.ts';
import { undoSetting } from '../app/undo-setting.ts';
import type { InboxItem } from '../model/inbox-items.ts';

export type Verdict = 'allow' | 'deny' | 'answer';

/** A decision on its way: it can be taken back until it is sent. */
export interface Decision {
  readonly item: InboxItem;
  readonly verdict: Verdict;
  readonly text: string;
  /** What was allowed alike and decided this; null: somebody looked at this one. */
  readonly rule: string | null;
  /** Of an approval: the input that the call is to run with; undefined: its own. */
  readonly updatedInput?: InputFields | undefined;
  /** Of a denial: the turn that made the call ends as well. */
  readonly isInterrupting?: boolean;
  state: 'pending' | 'sending' | 'sent' | 'failed';
  problem: string;
}

export type InputFields = Readonly<Record<string, unknown>>;

interface HowDecided extends Pick<Decision, 'updatedInput' | 'isInterrupting'> {
  /** How long it can be taken back. */
  readonly waitMs?: number;
  readonly rule?: string | null;
}

/** What somebody has decided here. The stream says what came of it: of two answers the first counts. */
export class Decisions {
  readonly changed = new Signal();
  readonly #all = new Map<string, Decision>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Inputs that are allowed without asking while this page is open: the same tool with the very same input. */
  readonly #rules = new Set<string>();

  find(id: string): Decision | undefined {
    return this.#all.get(id);
  }

  decide(
    item: InboxItem,
    verdict: Verdict,
    text = '',
    { waitMs = undoSetting.ms, rule = null, ...more }: HowDecided = {},
  ): void {
    const known = this.#all.get(item.id);
    if (known !== undefined && known.state !== 'failed') return;
    const decision: Decision = { item, verdict, text, rule, ...more, state: 'pending', problem: '' };
    this.#all.set(item.id, decision);
    this.#timers.set(
      item.id,
      setTimeout(() => void this.#send(decision), waitMs),
    );
    this.changed.emit();
  }

  /** Takes back what was not sent yet. Whether there was something. */
  undo(id?: string): boolean {
    const pending = [...this.#all.values()].filter(
      ({ state, item }) => state === 'pending' && (id === undefined || item.id === id),
    );
    for (const { item } of pending) {
      clearTimeout(this.#timers.get(item.id));
      this.#all.delete(item.id);
    }
    if (pending.length > 0) this.changed.emit();
    return pending.length > 0;
  }

  allowAlike(item: InboxItem): void {
    this.#rules.add(ruleOf(item));
  }

  /** Says yes to what a rule covers, and forgets what is not asked any more. */
  follow(items: readonly InboxItem[]): void {
    for (const item of items) {
      const isCovered = item.kind === 'approval' && this.#rules.size > 0 && this.#rules.has(ruleOf(item));
      if (isCovered && !this.#all.has(item.id)) this.decide(item, 'allow', '', { waitMs: 0, rule: shownRuleOf(item) });
    }
    const open = new Set(items.map(({ id }) => id));
    for (const [id, { state }] of this.#all) if (state === 'sent' && !open.has(id)) this.#all.delete(id);
  }

  async #send(decision: Decision): Promise<void> {
    decision.state = 'sending';
    this.changed.emit();
    try {
      await api.send(decision.item.session.id, toEvent(decision));
      decision.state = 'sent';
    } catch (error) {
      decision.state = 'failed';
      decision.problem = error instanceof Error ? error.message : String(error);
    }
    this.changed.emit();
  }
}

export const decisions = new Decisions();

/** The exact rule: what is asked has to be the same, word for word, in the same session. */
export function ruleOf({ session, tool, input }: InboxItem): string {
  return `${session.id}\n${tool}\n${JSON.stringify(input)}`;
}

/** The same rule as it is shown to who makes it, and as the log is told. The session is that of the log. */
export function shownRuleOf({ tool, input }: InboxItem): string {
  return toRuleText({ tool, field: null, pattern: JSON.stringify(input) });
}

export function toEvent({
  item,
  verdict,
  text,
  rule,
  updatedInput,
  isInterrupting = false,
}: Omit<Decision, 'state' | 'problem'>): ClientEventParams {
  if (verdict === 'answer') {
    return { type: 'user.custom_tool_result', custom_tool_use_id: item.id, content: [{ type: 'text', text }] };
  }
  return {
    type: 'user.tool_confirmation',
    tool_use_id: item.id,
    result: verdict,
    ...(verdict === 'deny' && text !== '' ? { deny_message: text } : {}),
    ...(rule === null ? {} : { rule }),
    ...(updatedInput === undefined ? {} : { updated_input: updatedInput }),
    ...(isInterrupting ? { interrupt: true } : {}),
  };
}
