import { Modal } from '../app/Modal.tsx';
import { ui } from '../app/stores.ts';
import { exportLines, exportPage, exportTrace } from './export-session.ts';

/** A session to keep or to send: every thread of it, in each form. */
export function ExportDialog({ sessionId }: { sessionId: string }) {
  const close = () => ui.set({ dialog: undefined });
  return (
    <Modal label="Export the session" className="message-dialog export-dialog">
      <form onSubmit={(event) => event.preventDefault()}>
        <b>Export the session, all threads</b>
        <button
          type="button"
          autoFocus
          onClick={() => {
            close();
            exportPage(sessionId).catch((error: unknown) => ui.fail(error));
          }}
        >
          One page (HTML) <span className="quiet">to read anywhere; it runs nothing and loads nothing</span>
        </button>
        <button
          type="button"
          onClick={() => {
            close();
            exportLines(sessionId);
          }}
        >
          Lines (NDJSON) <span className="quiet">the whole log, as `fleetloom export` writes it</span>
        </button>
        <button
          type="button"
          onClick={() => {
            close();
            exportTrace(sessionId).catch((error: unknown) => ui.fail(error));
          }}
        >
          Trace (OTLP) <span className="quiet">JSON for a collector: runs, turns, requests and calls as spans</span>
        </button>
        <footer>
          <button type="button" onClick={close}>
            Cancel <kbd>Esc</kbd>
          </button>
        </footer>
      </form>
    </Modal>
  );
}
