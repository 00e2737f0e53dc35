import { inBackground } from '../stores/connection/in-background.ts';
import { useState } from 'react';
import { cleanLine } from '@fleetloom/protocol/text';
import { useDraft } from '../stores/drafts.ts';
import { withCommandKey } from './command-key.ts';
import { FormDialog } from './FormDialog.tsx';
import { isSteerable, sendMessage, toDraftName } from '../stores/send-message.ts';
import { ui } from '../stores/stores.ts';
import type { Dialog } from '../stores/ui-store.ts';

/** Sends a message to a coordinator or to one thread. */
export function MessageDialog({ dialog }: { dialog: Extract<Dialog, { type: 'message' }> }) {
  const { threadId, agent } = dialog;
  const draft = useDraft(toDraftName(dialog));
  const { text } = draft;
  const [isSending, setSending] = useState(false);
  const send = async () => {
    const trimmed = text.trim();
    if (trimmed === '' || isSending) return;
    setSending(true);
    try {
      await sendMessage(dialog, trimmed);
      draft.clear();
      ui.closeDialog();
      ui.notify('Sent.');
    } catch (error) {
      ui.notifyError(error);
      setSending(false);
    }
  };
  return (
    <FormDialog
      label="Send a message"
      onSubmit={() => inBackground(send())}
      submit={
        <button type="submit" className="primary" disabled={text.trim() === '' || isSending}>
          Send <kbd>{withCommandKey('⏎')}</kbd>
        </button>
      }
    >
      <label htmlFor="message-text">
        Message to <b>{cleanLine(agent)}</b>
      </label>
      {threadId !== null && (
        <p className="quiet">
          {isSteerable(dialog)
            ? 'Sent to this thread only. A running thread reads it before its next model request; an idle thread starts a turn with it.'
            : 'Sent to the coordinator, which decides when to pass it on.'}
        </p>
      )}
      <textarea
        id="message-text"
        // The dialog was opened to type a message.
        autoFocus
        rows={4}
        value={text}
        onChange={(event) => draft.set(event.target.value)}
      />
    </FormDialog>
  );
}
