import { fleet } from '../stores/stores.ts';
import { formatAge } from '../model/format.ts';
import { toLabel as inputLabel } from '@fleetloom/protocol/fleet';
import { type InboxItem, needsDecision } from '../model/inbox-items.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { decisions } from '../stores/decisions.ts';
import { nameOfSession } from '../model/name-of-session.ts';
import { inbox } from '../stores/inbox-store.ts';
import { kindStyles } from './kind-styles.ts';

/** The list of items to select from, each on one or two lines. */
export function InboxList({ items, selectedId }: { items: readonly InboxItem[]; selectedId: string }) {
  const now = fleet.now();
  // Session names are shown only if the items belong to several sessions; otherwise the card shows the name.
  const isMixed = items.some(({ session }) => session.id !== items[0]!.session.id);
  return (
    <ul
      className="inbox-list"
      role="listbox"
      aria-label="What needs you"
      tabIndex={0}
      aria-activedescendant={`item-${selectedId}`}
    >
      {items.map((item) => (
        <li
          key={item.id}
          id={`item-${item.id}`}
          role="option"
          aria-selected={item.id === selectedId}
          data-checked={inbox.checked.has(item.id)}
          onClick={() => inbox.select(item.id)}
        >
          <i data-ink={kindStyles[item.kind].state} aria-hidden="true">
            {inbox.checked.has(item.id) ? '☑' : kindStyles[item.kind].glyph}
          </i>
          <b>
            {cleanLine(item.path.at(-1) ?? '')}
            {item.row.ordinal > 0 && <span className="ordinal">{item.row.ordinal}</span>}
          </b>
          <span className="quiet">{item.tool === '' ? kindStyles[item.kind].word : cleanLine(item.tool)}</span>
          <time>{formatAge(now - item.since)}</time>
          {isMixed && <span className="inbox-session">{cleanLine(nameOfSession(item.session))}</span>}
          <span className="inbox-line">{cleanLine(toLine(item))}</span>
          <Progress id={item.id} />
        </li>
      ))}
    </ul>
  );
}

function toLine(item: InboxItem): string {
  if (item.questions.length > 0) return item.questions.map(({ text }) => text).join(' ');
  return needsDecision(item) ? inputLabel(item.input) : item.why;
}

function Progress({ id }: { id: string }) {
  const decision = decisions.find(id);
  if (decision === undefined) return null;
  const words = { allow: 'approve', deny: 'deny', answer: 'answer' };
  return (
    <em data-state={decision.state}>
      {words[decision.verdict]} · {decision.state}
    </em>
  );
}
