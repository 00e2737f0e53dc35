import { useEffect, useRef, useState } from 'react';
import type { InboxItem } from '../model/inbox-items.ts';
import { approveEdited } from './answer.ts';
import { inbox } from './inbox-state.ts';
import { toDraft, toEdited } from './edit-input.ts';

/** The input of a call to be changed before it runs: a command as text, everything else as JSON. */
export function EditInput({ item }: { item: InboxItem }) {
  const [text, setText] = useState(() => toDraft(item.input));
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const edited = toEdited(item.input, text);
  const send = () => {
    if (edited.type === 'input') approveEdited(item, edited.input);
  };
  return (
    <form
      className="card-writing"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor="card-input">Input that the call runs with</label>
      <textarea
        id="card-input"
        ref={field}
        data-code="true"
        spellCheck={false}
        rows={Math.min(16, Math.max(3, text.split('\n').length + 1))}
        value={text}
        aria-invalid={edited.type === 'problem'}
        aria-describedby="card-input-problem"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            send();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            inbox.setMode('read');
          }
        }}
      />
      <p id="card-input-problem" className="fault" role="status">
        {edited.type === 'problem' ? edited.problem : ''}
      </p>
      <div className="card-actions">
        <button type="submit" className="primary" disabled={edited.type !== 'input'}>
          Allow with this input <kbd>Ctrl ⏎</kbd>
        </button>
        <button type="button" onClick={() => inbox.setMode('read')}>
          Cancel <kbd>Esc</kbd>
        </button>
      </div>
    </form>
  );
}
