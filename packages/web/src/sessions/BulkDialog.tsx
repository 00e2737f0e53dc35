import { formatCount, formatNumber, plural } from '../model/format.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { applicableTo, applyToAll, type BulkAction } from '../stores/session-actions.ts';
import { ui } from '../stores/stores.ts';
import type { Dialog, ListedSession } from '../stores/ui-store.ts';
import { FormDialog } from '../ui/FormDialog.tsx';
import { sessionPage } from './session-page.ts';

/** Asks before sessions are archived, deleted or cancelled, and lists the data that is lost. */
export function BulkDialog({ dialog }: { dialog: Extract<Dialog, { type: BulkAction }> }) {
  const { type: action, sessions } = dialog;
  const affected = applicableTo(action, sessions);
  const left = sessions.length - affected.length;
  const [only] = affected.length === 1 ? affected : [];
  const what = only === undefined ? plural(affected.length, 'session') : `“${only.name}”`;
  return (
    <FormDialog
      label={`${NAMES[action]} ${what}`}
      onSubmit={() => {
        ui.closeDialog();
        sessionPage.clear();
        inBackground(applyToAll(action, affected));
      }}
      submit={
        <button
          type="submit"
          className={action === 'archive' ? 'primary' : 'danger'}
          disabled={affected.length === 0}
          // The button of a deletion has no focus, so that an accidental Enter does not confirm it.
          autoFocus={action !== 'delete'}
        >
          {NAMES[action]} {plural(affected.length, 'session')}
        </button>
      }
    >
      <p>
        <b>
          {NAMES[action]} {what}?
        </b>
      </p>
      <Consequences action={action} sessions={affected} />
      {left > 0 && (
        <p className="quiet">
          {plural(left, 'session')} of the selection {left === 1 ? 'is' : 'are'} left alone: {REASONS[action]}
        </p>
      )}
    </FormDialog>
  );
}

const NAMES: Readonly<Record<BulkAction, string>> = { archive: 'Archive', delete: 'Delete', cancel: 'Cancel' };

const REASONS: Readonly<Record<BulkAction, string>> = {
  archive: 'running sessions have to be cancelled first, and archived ones are archived already.',
  delete: 'running sessions have to be cancelled first.',
  cancel: 'only sessions that are running or need you can be cancelled.',
};

function Consequences({ action, sessions }: { action: BulkAction; sessions: readonly ListedSession[] }) {
  if (action === 'cancel')
    return (
      <p>
        Running work stops and pending approvals are withdrawn. Transcripts and files are kept, and you can continue a
        session with a message.
      </p>
    );
  if (action === 'archive')
    return <p>Archived sessions stay readable under the state “archived”. They cannot run again.</p>;
  const sum = (count: (session: ListedSession) => number) =>
    sessions.reduce((total, session) => total + count(session), 0);
  const changed = sessions.filter(({ changes }) => (changes?.files_count ?? 0) > 0);
  return (
    <>
      <p>This cannot be undone. Lost are:</p>
      <ul className="losses">
        <li>
          the transcripts and logs of{' '}
          {plural(
            sum(({ threads_count: count }) => count),
            'thread',
          )}{' '}
          ({formatCount(sum(({ tokens }) => tokens))} tokens)
        </li>
        {changed.length > 0 && (
          <li>
            the recorded changes of {plural(changed.length, 'session')}:{' '}
            {plural(
              sum(({ changes }) => changes?.files_count ?? 0),
              'file',
            )}
            , +{formatNumber(sum(({ changes }) => changes?.lines_added ?? 0))} −
            {formatNumber(sum(({ changes }) => changes?.lines_removed ?? 0))} lines. Apply what you want to keep first.
          </li>
        )}
        <li>the workspaces that the server made for them, with all files in them</li>
        <li>their cost and decisions in every list and export</li>
      </ul>
      <p className="quiet">Files that were applied to your own directories or branches stay.</p>
    </>
  );
}
