import { toRuleText } from '@fleetloom/protocol/fleet';
import type { ClientEventParams } from '@fleetloom/protocol/managed-agents';
import { api } from './connection/api.ts';
import { Signal } from './signal.ts';
import { undoSetting } from './undo-setting.ts';
import type { InboxItem } from '../model/inbox-items.ts';

/** The kind of a decision. */
export type Verdict = 'allow' | 'deny' | 'answer';

/** A decision of the user. It can be undone until it is sent. */
export interface Decision {
  readonly item: InboxItem;
  readonly verdict: Verdict;
  readonly text: string;
  /** The rule that made the decision; null if the user decided this item. */
  readonly rule: string | null;
  /** The edited input of an approved call; undefined for the original input. */
  readonly updatedInput?: InputFields | undefined;
  /** Whether a denial also ends the turn that made the call. */
  readonly isInterrupting?: boolean;
  state: 'pending' | 'sending' | 'sent' | 'failed';
  problem: string;
}

/** The input of a tool call. */
export type InputFields = Readonly<Record<string, unknown>>;

interface HowDecided extends Pick<Decision, 'updatedInput' | 'isInterrupting'> {
  /** How long the decision can be undone. */
  readonly waitMs?: number;
  readonly rule?: string | null;
}

/** The decisions made in this tab. If several users decide a call, the first decision counts; the fleet stream reports which one it was. */
export class Decisions {
  readonly changed = new Signal();
  readonly #all = new Map<string, Decision>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Rules of this tab: a tool with exactly this input in this session is approved without asking. */
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

  /** Undoes decisions that are not sent yet, of one item or of all. Returns whether it undid any. */
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

  /** Approves later calls with the same tool and input in the same session, while this page is open. */
  addRule(item: InboxItem): void {
    this.#rules.add(ruleOf(item));
  }

  /** Approves the items that a rule covers, and forgets decisions about items that are no longer pending. */
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

/** The decisions of this tab. */
export const decisions = new Decisions();

/** The key of an item's rule: session, tool and the exact input. */
export function ruleOf({ session, tool, input }: InboxItem): string {
  return `${session.id}\n${tool}\n${JSON.stringify(input)}`;
}

/** The text of the rule for the user and the log. It omits the session, which is the session of the log. */
export function shownRuleOf({ tool, input }: InboxItem): string {
  return toRuleText({ tool, field: null, pattern: JSON.stringify(input) });
}

/** The event that sends a decision to the server. */
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
