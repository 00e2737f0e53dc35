import { ui } from '../../stores/stores.ts';
import { FormDialog } from '../../ui/FormDialog.tsx';
import { exportLines, exportPage, exportTrace } from './export-session.ts';

const formats = [
  { name: 'HTML page', description: 'self-contained; no scripts, no network access', run: exportPage },
  { name: 'Log (NDJSON)', description: 'complete, as written by `fleetloom export`', run: exportLines },
  {
    name: 'Trace (OTLP)',
    description: 'JSON for a collector: runs, turns, model requests and tool calls as spans',
    run: exportTrace,
  },
] as const;

/** Exports a session with all its threads, in one of three formats. */
export function ExportDialog({ sessionId }: { sessionId: string }) {
  return (
    <FormDialog label="Export the session" className="export-dialog" onSubmit={() => {}}>
      <b>Export the session, all threads</b>
      {formats.map(({ name, description, run }, index) => (
        <button
          key={name}
          type="button"
          autoFocus={index === 0}
          onClick={() => {
            ui.closeDialog();
            ui.attempt(run(sessionId));
          }}
        >
          {name} <span className="quiet">{description}</span>
        </button>
      ))}
    </FormDialog>
  );
}
