import { useState } from 'react';
import { api } from '../connection/api.ts';
import { cleanLine } from '../text/clean-text.ts';
import { Modal } from './Modal.tsx';
import { ui } from './stores.ts';
import type { Dialog } from './ui-store.ts';

/** A message to a session. The wire takes messages for its coordinator; one for another thread names it. */
export function MessageDialog({ dialog }: { dialog: Extract<Dialog, { type: 'message' }> }) {
  const { sessionId, threadId, agent } = dialog;
  const [text, setText] = useState('');
  const [isSending, setSending] = useState(false);
  const send = async () => {
    const trimmed = text.trim();
    if (trimmed === '' || isSending) return;
    setSending(true);
    try {
      const said = threadId === null ? trimmed : `For ${agent} (thread ${threadId}): ${trimmed}`;
      await api.send(sessionId, { type: 'user.message', content: [{ type: 'text', text: said }] });
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
          void send();
        }}
      >
        <label htmlFor="message-text">
          Message to <b>{cleanLine(agent)}</b>
        </label>
        {threadId !== null && (
          <p className="quiet">It goes through the coordinator, which decides when to pass it on.</p>
        )}
        <textarea
          id="message-text"
          // The dialog was opened to write.
          autoFocus
          rows={4}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send();
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
