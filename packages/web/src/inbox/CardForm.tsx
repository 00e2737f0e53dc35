import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { inbox } from '../stores/inbox-store.ts';

interface CardFormProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
  /** Whether a key event sends the form; otherwise Enter is a line break. */
  readonly isSendKey: (event: KeyboardEvent) => boolean;
  readonly rows: number;
  readonly isCode?: boolean;
  /** Why the text cannot be sent; empty if it can. Undefined if every text can be sent. */
  readonly problem?: string;
  /** The buttons before Cancel. */
  readonly children: ReactNode;
}

/** A text field in the card of an item, with its buttons. Escape closes it. */
export function CardForm({ label, text, onText, onSend, isSendKey, rows, isCode, problem, children }: CardFormProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <form
      className="card-writing"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <label htmlFor="card-text">{label}</label>
      <textarea
        id="card-text"
        ref={field}
        data-code={isCode}
        spellCheck={isCode === true ? false : undefined}
        rows={rows}
        value={text}
        aria-invalid={problem === undefined ? undefined : problem !== ''}
        aria-describedby={problem === undefined ? undefined : 'card-text-problem'}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && isSendKey(event)) {
            event.preventDefault();
            onSend();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            inbox.setMode('read');
          }
        }}
      />
      {problem !== undefined && (
        <p id="card-text-problem" className="fault" role="status">
          {problem}
        </p>
      )}
      <div className="card-actions">
        {children}
        <CancelButton />
      </div>
    </form>
  );
}

/** Goes back to the content of the card. */
export function CancelButton() {
  return (
    <button type="button" onClick={() => inbox.setMode('read')}>
      Cancel <kbd>Esc</kbd>
    </button>
  );
}
