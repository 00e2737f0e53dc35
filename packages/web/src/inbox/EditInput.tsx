import { useState } from 'react';
import type { InboxItem } from '../model/inbox-items.ts';
import { approveEdited } from './answer.ts';
import { CardForm } from './CardForm.tsx';
import { toDraft, toEdited } from './edit-input.ts';

/** Edits the input of a call before it runs: a command as text, any other input as JSON. */
export function EditInput({ item }: { item: InboxItem }) {
  const [text, setText] = useState(() => toDraft(item.input));
  const edited = toEdited(item.input, text);
  return (
    <CardForm
      label="Input that the call runs with"
      text={text}
      onText={setText}
      onSend={() => {
        if (edited.type === 'input') approveEdited(item, edited.input);
      }}
      isSendKey={({ ctrlKey, metaKey }) => ctrlKey || metaKey}
      rows={Math.min(16, Math.max(3, text.split('\n').length + 1))}
      isCode
      problem={edited.type === 'problem' ? edited.problem : ''}
    >
      <button type="submit" className="primary" disabled={edited.type !== 'input'}>
        Allow with this input <kbd>Ctrl ⏎</kbd>
      </button>
    </CardForm>
  );
}
