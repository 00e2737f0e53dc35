import { fleet } from '../app/stores.ts';
import { formatAge } from '../model/format.ts';
import { inputLabel } from '../model/input-label.ts';
import { type InboxItem, isAsk } from '../model/inbox-items.ts';
import { cleanLine } from '../text/clean-text.ts';
import { decisions } from './decisions.ts';
import { inbox } from './inbox-state.ts';
import { looks } from './looks.ts';

export function InboxList({ items, selectedId }: { items: readonly InboxItem[]; selectedId: string }) {
  const now = fleet.now();
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
          <i data-ink={looks[item.kind].state} aria-hidden="true">
            {inbox.checked.has(item.id) ? '☑' : looks[item.kind].glyph}
          </i>
          <b>
            {cleanLine(item.path.at(-1) ?? '')}
            {item.row.ordinal > 0 && <span className="ordinal">{item.row.ordinal}</span>}
          </b>
          <span className="quiet">{item.tool === '' ? looks[item.kind].word : cleanLine(item.tool)}</span>
          <time>{formatAge(now - item.since)}</time>
          <span className="inbox-line">{cleanLine(toLine(item))}</span>
          <Progress id={item.id} />
        </li>
      ))}
    </ul>
  );
}

function toLine(item: InboxItem): string {
  if (item.questions.length > 0) return item.questions.map(({ text }) => text).join(' ');
  return isAsk(item) ? inputLabel(item.input) : item.why;
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
