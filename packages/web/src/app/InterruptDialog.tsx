import { inBackground } from '../connection/in-background.ts';
import { Modal } from './Modal.tsx';
import { interrupt } from './actions.ts';
import { ui } from './stores.ts';
import type { Dialog } from './ui-store.ts';

/** Stopping several at once is asked for, with how many they are. */
export function InterruptDialog({ dialog }: { dialog: Extract<Dialog, { type: 'interrupt' }> }) {
  const { sessionId, threadIds, what } = dialog;
  return (
    <Modal label="Interrupt" className="message-dialog">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ui.set({ dialog: undefined });
          inBackground(interrupt(sessionId, threadIds));
        }}
      >
        <p>
          Interrupt <b>{what}</b>? What they have said and done stays; what runs is stopped.
        </p>
        <footer>
          <button type="button" onClick={() => ui.set({ dialog: undefined })}>
            Cancel <kbd>Esc</kbd>
          </button>
          <button type="submit" className="danger" autoFocus>
            Interrupt
          </button>
        </footer>
      </form>
    </Modal>
  );
}
