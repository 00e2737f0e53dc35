import { interrupt } from '../stores/actions.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { ui } from '../stores/stores.ts';
import type { Dialog } from '../stores/ui-store.ts';
import { FormDialog } from './FormDialog.tsx';

/** Asks before several threads are interrupted. */
export function InterruptDialog({ dialog }: { dialog: Extract<Dialog, { type: 'interrupt' }> }) {
  const { sessionId, threadIds, what } = dialog;
  return (
    <FormDialog
      label="Interrupt"
      onSubmit={() => {
        ui.closeDialog();
        inBackground(interrupt(sessionId, threadIds));
      }}
      submit={
        <button type="submit" className="danger" autoFocus>
          Interrupt
        </button>
      }
    >
      <p>
        Interrupt <b>{what}</b>? Running work stops; the transcript is kept.
      </p>
    </FormDialog>
  );
}
