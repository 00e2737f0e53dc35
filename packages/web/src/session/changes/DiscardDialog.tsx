import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { plural } from '../../model/format.ts';
import { inBackground } from '../../stores/connection/in-background.ts';
import { ui } from '../../stores/stores.ts';
import { FormDialog } from '../../ui/FormDialog.tsx';
import { changesApi, messageOf } from './changes-api.ts';
import { changesPage } from './changes-page.ts';
import { FileList } from './FileList.tsx';
import { useLoaded } from '../../ui/use-loaded.ts';

/** Removes the workspace of a session, after a list of what is lost. */
export function DiscardDialog({ sessionId }: { sessionId: string }) {
  const lost = useLoaded(sessionId, '', () => changesApi.discard(sessionId, true));
  const [isRemoving, setRemoving] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const discard = async () => {
    setRemoving(true);
    try {
      await changesApi.discard(sessionId, false);
      ui.closeDialog();
      ui.notify('The workspace was discarded.');
      changesPage.reload();
    } catch (error) {
      setFailure(error);
      setRemoving(false);
    }
  };
  const problem = failure ?? lost.problem;
  const { value } = lost;
  return (
    <FormDialog
      label="Discard changes"
      className="changes-dialog"
      onSubmit={() => inBackground(discard())}
      submit={
        <button type="submit" className="danger" disabled={value === undefined || problem !== undefined || isRemoving}>
          {isRemoving ? 'Discarding …' : 'Discard'}
        </button>
      }
    >
      <h2>Discard changes</h2>
      {problem !== undefined ? (
        <p className="fault" role="alert">
          {cleanLine(messageOf(problem))}
        </p>
      ) : value === undefined ? (
        <p className="quiet">Listing what is lost …</p>
      ) : (
        <>
          <p>
            Removes the workspace {value.directory !== null && <code>{cleanLine(value.directory)}</code>}
            {value.branch !== null && (
              <>
                {' '}
                and the branch <code>{cleanLine(value.branch)}</code>
              </>
            )}{' '}
            with these changes:
          </p>
          <FileList of={value} />
          {value.not_recorded_count > 0 && (
            <div>
              <p className="fault">{plural(value.not_recorded_count, 'file')} not recorded and lost for good:</p>
              <ul className="conflicts">
                {value.not_recorded.map(({ path, reason }) => (
                  <li key={path}>
                    <code>{cleanLine(path)}</code> <span className="quiet">{reason.replaceAll('_', ' ')}</span>
                  </li>
                ))}
              </ul>
            </div>
          )}
          <p className="quiet">
            Your own files are not touched. The recorded diffs stay readable in this tab; the next message starts with a
            new workspace.
          </p>
        </>
      )}
    </FormDialog>
  );
}
