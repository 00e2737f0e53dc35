import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { formatClock, plural } from '../../model/format.ts';
import { goLive } from '../../stores/actions.ts';
import { inBackground } from '../../stores/connection/in-background.ts';
import { fleet, ui } from '../../stores/stores.ts';
import type { Dialog } from '../../stores/ui-store.ts';
import { FormDialog } from '../../ui/FormDialog.tsx';
import { changesApi, messageOf } from './changes-api.ts';
import { changesPage } from './changes-page.ts';
import { FileList } from './FileList.tsx';
import { listMoments } from './list-moments.ts';
import { useLoaded } from '../../ui/use-loaded.ts';

/** Restores the files of an idle session to the replayed moment, a recorded change or the beginning, after a preview. */
export function RestoreDialog({ dialog }: { dialog: Extract<Dialog, { type: 'restore_changes' }> }) {
  const { sessionId } = dialog;
  const [at, setAt] = useState(dialog.at);
  const steps = fleet.model.sessions.get(sessionId)?.model.workspace.steps ?? [];
  const preview = useLoaded(`${sessionId} ${at}`, '', (signal) => changesApi.restore(sessionId, at, true, signal));
  const [isRestoring, setRestoring] = useState(false);
  const [failure, setFailure] = useState<{ readonly at: string; readonly error: unknown }>();
  const restore = async () => {
    setRestoring(true);
    try {
      const { files_count: count } = await changesApi.restore(sessionId, at, false);
      ui.closeDialog();
      goLive();
      changesPage.reload();
      ui.notify(`${plural(count, 'file')} restored.`);
    } catch (error) {
      setFailure({ at, error });
      setRestoring(false);
    }
  };
  const problem = failure?.at === at ? failure.error : preview.problem;
  const { value } = preview;
  const isSame = value?.files_count === 0;
  return (
    <FormDialog
      label="Restore files"
      className="changes-dialog"
      onSubmit={() => inBackground(restore())}
      submit={
        <button
          type="submit"
          className="primary"
          disabled={value === undefined || isSame || problem !== undefined || isRestoring}
        >
          {isRestoring ? 'Restoring …' : 'Restore'}
        </button>
      }
    >
      <h2>Restore files</h2>
      <label htmlFor="restore-at">Set the files back to</label>
      <select id="restore-at" value={at} onChange={({ target }) => setAt(target.value)}>
        {listMoments(steps, dialog.at).map((moment) => (
          <option key={moment.at} value={moment.at}>
            {moment.label}
          </option>
        ))}
      </select>
      {problem !== undefined ? (
        <p className="fault" role="alert">
          {cleanLine(messageOf(problem))}
        </p>
      ) : value === undefined ? (
        <p className="quiet">Comparing with the workspace …</p>
      ) : isSame ? (
        <p>Nothing to restore: the workspace has these files already.</p>
      ) : (
        <>
          <p>Sets the workspace back to {formatClock(Date.parse(value.at.time))}, which changes:</p>
          <FileList of={value} />
          <p className="quiet">
            Later changes stay in the history, so they can be restored too. Your own files are not touched unless the
            session works in place.
          </p>
        </>
      )}
    </FormDialog>
  );
}
