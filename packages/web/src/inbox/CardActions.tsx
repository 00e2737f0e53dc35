import { useEffect, useRef } from 'react';
import { canContinue, continueSession, interruptRow, openThread } from '../stores/actions.ts';
import { plural } from '../model/format.ts';
import { type InboxItem, needsDecision } from '../model/inbox-items.ts';
import { approve, approveByRule, approveChecked, countCovered, countGrave, deny, giveAnswer } from './answer.ts';
import { cleanText } from '@fleetloom/protocol/text';
import { useDraft } from '../stores/drafts.ts';
import { decisions, shownRuleOf } from '../stores/decisions.ts';
import { CancelButton, CardForm } from './CardForm.tsx';
import { EditInput } from './EditInput.tsx';
import { inbox } from '../stores/inbox-store.ts';
import { Questions } from './Questions.tsx';
import { RuleForm } from './RuleForm.tsx';

/** Buttons to decide, or the state of a decision that was made. */
export function CardActions({ item }: { item: InboxItem }) {
  const decision = decisions.find(item.id);
  if (decision !== undefined && decision.state !== 'failed') {
    const words = { allow: 'Approved', deny: 'Denied', answer: 'Answered' };
    return (
      <footer className="card-actions">
        <b>{decision.updatedInput === undefined ? words[decision.verdict] : 'Approved with changes'}</b>
        <span className="quiet">
          {decision.state === 'pending'
            ? 'will be sent in a moment'
            : decision.state === 'sent'
              ? 'sent; the agent has not resumed yet'
              : 'sending'}
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
  if (inbox.mode === 'always') return <RuleForm item={item} />;
  if (inbox.mode === 'confirm' || inbox.mode === 'rule' || inbox.mode === 'batch')
    return <Confirm item={item} mode={inbox.mode} />;
  return (
    <footer className="card-actions">
      {item.questions.length > 0 && <Questions key={item.id} item={item} />}
      {decision?.state === 'failed' && <span className="fault">{decision.problem}</span>}
      {item.kind === 'approval' && (
        <>
          <button data-needs="approve" type="button" className="primary" onClick={() => approve(item)}>
            Approve once <kbd>a</kbd>
          </button>
          <button data-needs="approve" type="button" onClick={() => inbox.setMode('deny')}>
            Deny … <kbd>d</kbd>
          </button>
          <button data-needs="run" type="button" onClick={() => inbox.setMode('edit')}>
            Edit and allow … <kbd>e</kbd>
          </button>
          {item.plan === null && (
            <button data-needs="manage" type="button" onClick={() => inbox.setMode('always')}>
              Always allow … <kbd>w</kbd>
            </button>
          )}
          <button
            data-needs="approve"
            type="button"
            onClick={() => inbox.setMode('rule')}
            title="Every call with exactly this input, while this page is open"
          >
            Approve this input … <kbd>A</kbd>
          </button>
        </>
      )}
      {item.kind === 'answer' && item.questions.length === 0 && (
        <button data-needs="run" type="button" className="primary" onClick={() => inbox.setMode('answer')}>
          Answer … <kbd>r</kbd>
        </button>
      )}
      {item.kind === 'error' && canContinue(item.row) && (
        <button
          data-needs="run"
          type="button"
          className="primary"
          onClick={() => void continueSession(item.session.id)}
        >
          Continue
        </button>
      )}
      {!needsDecision(item) && (
        <button type="button" onClick={() => inbox.dismiss(item.id)}>
          Dismiss <kbd>e</kbd>
        </button>
      )}
      <button type="button" onClick={() => openThread(item.row)}>
        Open thread <kbd>⏎</kbd>
      </button>
      {item.row.slot.endedAt === null && (
        <button data-needs="run" type="button" className="danger" onClick={() => interruptRow(item.row, false)}>
          Interrupt <kbd>x</kbd>
        </button>
      )}
    </footer>
  );
}

/** Asks for the reason of a denial, or for the result of a custom tool. */
function Writing({ item, mode }: { item: InboxItem; mode: 'deny' | 'answer' }) {
  const draft = useDraft(`${mode} ${item.id}`);
  const { text } = draft;
  const isDenial = mode === 'deny';
  const send = (isEnding = false) => {
    if (isDenial) deny(item, text.trim(), isEnding);
    else giveAnswer(item, text);
    draft.clear();
  };
  return (
    <CardForm
      label={isDenial ? 'Reason (sent to the agent)' : 'Result of the tool'}
      text={text}
      onText={draft.set}
      onSend={() => send()}
      isSendKey={({ shiftKey }) => !shiftKey}
      rows={3}
    >
      <button type="submit" className={isDenial ? 'danger' : 'primary'} disabled={!isDenial && text === ''}>
        {isDenial ? 'Deny' : 'Answer'} <kbd>⏎</kbd>
      </button>
      {isDenial && (
        <button type="button" className="danger" onClick={() => send(true)}>
          Deny and end the turn
        </button>
      )}
    </CardForm>
  );
}

/** A second confirmation, which shows the approved input and the number of calls. */
function Confirm({ item, mode }: { item: InboxItem; mode: 'confirm' | 'rule' | 'batch' }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const covered = countCovered(item);
  const checked = inbox.checked.size;
  const [text, act] = {
    confirm: ['Check the warnings above. Approve this call once?', () => approve(item, true)] as const,
    rule: [
      `Approve ${item.tool} with exactly this input in this session, as long as this page is open? ${plural(covered, 'pending request')} ${covered === 1 ? 'matches' : 'match'}.`,
      () => approveByRule(item),
    ] as const,
    batch: [
      `Approve the ${plural(checked, 'selected call')}, each once?${graveText(countGrave())}`,
      () => approveChecked(),
    ] as const,
  }[mode];
  return (
    <footer className="card-actions" role="alertdialog" aria-label={text}>
      <span>{text}</span>
      {mode === 'rule' && <code className="rule">{cleanText(shownRuleOf(item))}</code>}
      <button ref={button} type="button" className="primary" onClick={act}>
        Approve <kbd>⏎</kbd>
      </button>
      <CancelButton />
    </footer>
  );
}

function graveText(count: number): string {
  return count === 0 ? '' : ` ${count} of them ${count === 1 ? 'has' : 'have'} warnings.`;
}
