import { useEffect, useRef, useState } from 'react';
import { canContinue, continueSession, interruptRow, openThread } from '../app/actions.ts';
import { plural } from '../model/format.ts';
import { type InboxItem, isAsk } from '../model/inbox-items.ts';
import { approve, approveAlike, approveChecked, countAlike, countGrave, deny, give } from './answer.ts';
import { cleanText } from '../text/clean-text.ts';
import { decisions, shownRuleOf } from './decisions.ts';
import { EditInput } from './EditInput.tsx';
import { inbox } from './inbox-state.ts';
import { Questions } from './Questions.tsx';

/** The ways to decide, or how far a decision is on its way. */
export function CardActions({ item }: { item: InboxItem }) {
  const decision = decisions.find(item.id);
  if (decision !== undefined && decision.state !== 'failed') {
    const words = { allow: 'Approved', deny: 'Denied', answer: 'Answered' };
    return (
      <footer className="card-actions">
        <b>{decision.updatedInput === undefined ? words[decision.verdict] : 'Approved with changes'}</b>
        <span className="quiet">
          {decision.state === 'pending'
            ? 'goes out in a moment'
            : decision.state === 'sent'
              ? 'waits for the agent to take it up'
              : 'being sent'}
        </span>
        {decision.state === 'pending' && (
          <button type="button" onClick={() => decisions.undo(item.id)}>
            Undo <kbd>z</kbd>
          </button>
        )}
      </footer>
    );
  }
  if (inbox.mode === 'deny' || inbox.mode === 'answer') return <Writing item={item} mode={inbox.mode} />;
  if (inbox.mode === 'edit') return <EditInput item={item} />;
  if (inbox.mode === 'confirm' || inbox.mode === 'alike' || inbox.mode === 'batch')
    return <Confirm item={item} mode={inbox.mode} />;
  return (
    <footer className="card-actions">
      {item.questions.length > 0 && <Questions key={item.id} item={item} />}
      {decision?.state === 'failed' && <span className="fault">{decision.problem}</span>}
      {item.kind === 'approval' && (
        <>
          <button type="button" className="primary" onClick={() => approve(item)}>
            Approve once <kbd>a</kbd>
          </button>
          <button type="button" onClick={() => inbox.setMode('edit')}>
            Edit and allow … <kbd>e</kbd>
          </button>
          <button type="button" onClick={() => inbox.setMode('deny')}>
            Deny … <kbd>d</kbd>
          </button>
          <button type="button" onClick={() => inbox.setMode('alike')}>
            Approve alike … <kbd>A</kbd>
          </button>
        </>
      )}
      {item.kind === 'answer' && item.questions.length === 0 && (
        <button type="button" className="primary" onClick={() => inbox.setMode('answer')}>
          Answer … <kbd>r</kbd>
        </button>
      )}
      {item.kind === 'error' && canContinue(item.row) && (
        <button type="button" className="primary" onClick={() => void continueSession(item.session.id)}>
          Continue
        </button>
      )}
      {!isAsk(item) && (
        <button type="button" onClick={() => inbox.dismiss(item.id)}>
          Seen <kbd>e</kbd>
        </button>
      )}
      <button type="button" onClick={() => openThread(item.row)}>
        Open thread <kbd>⏎</kbd>
      </button>
      {item.row.slot.endedAt === null && (
        <button type="button" className="danger" onClick={() => interruptRow(item.row, false)}>
          Interrupt <kbd>x</kbd>
        </button>
      )}
    </footer>
  );
}

function Writing({ item, mode }: { item: InboxItem; mode: 'deny' | 'answer' }) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const send = () => (mode === 'deny' ? deny(item, text.trim()) : give(item, text));
  return (
    <form
      className="card-writing"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor="card-text">{mode === 'deny' ? 'Reason (sent to the agent)' : 'Result of the tool'}</label>
      <textarea
        id="card-text"
        ref={field}
        rows={3}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            send();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            inbox.setMode('read');
          }
        }}
      />
      <div className="card-actions">
        <button
          type="submit"
          className={mode === 'deny' ? 'danger' : 'primary'}
          disabled={mode === 'answer' && text === ''}
        >
          {mode === 'deny' ? 'Deny' : 'Answer'} <kbd>⏎</kbd>
        </button>
        {mode === 'deny' && (
          <button type="button" className="danger" onClick={() => deny(item, text.trim(), true)}>
            Deny and end the turn
          </button>
        )}
        <button type="button" onClick={() => inbox.setMode('read')}>
          Cancel <kbd>Esc</kbd>
        </button>
      </div>
    </form>
  );
}

/** What one key should not do: it says what exactly is approved, and how many. */
function Confirm({ item, mode }: { item: InboxItem; mode: 'confirm' | 'alike' | 'batch' }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const alike = countAlike(item);
  const checked = inbox.checked.size;
  const [text, act] = {
    confirm: ['Look twice: see the marks above. Approve it this once?', () => approve(item, true)] as const,
    alike: [
      `Allow ${item.tool} with exactly this input in this session, for as long as this page is open? ${plural(alike, 'ask')} that wait now ${alike === 1 ? 'fits' : 'fit'}.`,
      () => approveAlike(item),
    ] as const,
    batch: [
      `Approve the ${plural(checked, 'chosen ask')}, each once?${graveText(countGrave())}`,
      () => approveChecked(),
    ] as const,
  }[mode];
  return (
    <footer className="card-actions" role="alertdialog" aria-label={text}>
      <span>{text}</span>
      {mode === 'alike' && <code className="rule">{cleanText(shownRuleOf(item))}</code>}
      <button ref={button} type="button" className="primary" onClick={act}>
        Approve <kbd>⏎</kbd>
      </button>
      <button type="button" onClick={() => inbox.setMode('read')}>
        Cancel <kbd>Esc</kbd>
      </button>
    </footer>
  );
}

function graveText(count: number): string {
  return count === 0 ? '' : ` Look twice: ${count} of them ${count === 1 ? 'is' : 'are'} marked.`;
}
