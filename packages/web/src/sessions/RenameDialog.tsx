import { useState } from 'react';
import { inBackground } from '../stores/connection/in-background.ts';
import { renameSession } from '../stores/session-actions.ts';
import { ui } from '../stores/stores.ts';
import type { Dialog } from '../stores/ui-store.ts';
import { FormDialog } from '../ui/FormDialog.tsx';

/** Changes the title of a session. */
export function RenameDialog({ dialog }: { dialog: Extract<Dialog, { type: 'rename' }> }) {
  const [title, setTitle] = useState(dialog.name);
  const save = async () => {
    try {
      await renameSession(dialog.sessionId, title);
      ui.closeDialog();
    } catch (error) {
      ui.notifyError(error);
    }
  };
  return (
    <FormDialog
      label="Rename the session"
      onSubmit={() => inBackground(save())}
      submit={
        <button type="submit" className="primary">
          Rename
        </button>
      }
    >
      <label htmlFor="session-title">Title</label>
      <input
        id="session-title"
        autoFocus
        maxLength={TITLE_CHARS}
        value={title}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTitle(event.target.value)}
      />
      <p className="quiet">Without a title, the session has the first words of its first message as its name.</p>
    </FormDialog>
  );
}

/** Characters of a title, the limit of the server. */
const TITLE_CHARS = 200;
