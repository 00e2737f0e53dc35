import { inBackground } from '../connection/in-background.ts';
import { useState } from 'react';
import { cleanLine } from '../text/clean-text.ts';
import { Modal } from './Modal.tsx';
import { isSteerable, sayTo } from './say-to.ts';
import { ui } from './stores.ts';
import type { Dialog } from './ui-store.ts';

/** A message to a coordinator, or to one thread. */
export function MessageDialog({ dialog }: { dialog: Extract<Dialog, { type: 'message' }> }) {
  const { threadId, agent } = dialog;
  const [text, setText] = useState('');
  const [isSending, setSending] = useState(false);
  const send = async () => {
    const trimmed = text.trim();
    if (trimmed === '' || isSending) return;
    setSending(true);
    try {
      await sayTo(dialog, trimmed);
      ui.set({ dialog: undefined });
      ui.say('Sent.');
    } catch (error) {
      ui.fail(error);
      setSending(false);
    }
  };
  return (
    <Modal label="Send a message" className="message-dialog">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          inBackground(send());
        }}
      >
        <label htmlFor="message-text">
          Message to <b>{cleanLine(agent)}</b>
        </label>
        {threadId !== null && (
          <p className="quiet">
            {isSteerable(dialog)
              ? 'To this thread alone. It reads it before its next model request; if it rests, it begins with it.'
              : 'It goes through the coordinator, which decides when to pass it on.'}
          </p>
        )}
        <textarea
          id="message-text"
          // The dialog was opened to write.
          autoFocus
          rows={4}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) inBackground(send());
          }}
        />
        <footer>
          <button type="button" onClick={() => ui.set({ dialog: undefined })}>
            Cancel <kbd>Esc</kbd>
          </button>
          <button type="submit" className="primary" disabled={text.trim() === '' || isSending}>
            Send <kbd>⌘⏎</kbd>
          </button>
        </footer>
      </form>
    </Modal>
  );
}
