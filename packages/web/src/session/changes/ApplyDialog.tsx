import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { formatClock, plural } from '../../model/format.ts';
import { inBackground } from '../../stores/connection/in-background.ts';
import { ui } from '../../stores/stores.ts';
import type { Dialog } from '../../stores/ui-store.ts';
import { FormDialog } from '../../ui/FormDialog.tsx';
import { type ApplyParams, changesApi, conflictsOf, messageOf } from './changes-api.ts';
import { changesPage } from './changes-page.ts';
import { FileList } from './FileList.tsx';
import { changesTabLimits } from './limits.ts';
import { useLoaded } from '../../ui/use-loaded.ts';

/** Writes the changes of a session to the user's working tree or to a branch, after a preview of exactly this action. */
export function ApplyDialog({ dialog }: { dialog: Extract<Dialog, { type: 'apply_changes' }> }) {
  const { sessionId, at, time, chosen, can } = dialog;
  const [onto, setOnto] = useState<ApplyParams['onto']>(can.working_tree ? 'working_tree' : 'branch');
  const [branch, setBranch] = useState('');
  const [message, setMessage] = useState('');
  const [isApplying, setApplying] = useState(false);
  const [failure, setFailure] = useState<{ readonly input: string; readonly error: unknown }>();
  const name = branch.trim();
  const params: ApplyParams = {
    onto,
    at,
    ...(chosen.length === 0 ? {} : { paths: chosen }),
    ...(onto === 'branch' ? { branch: name } : {}),
    ...(onto === 'branch' && message.trim() !== '' ? { message: message.trim() } : {}),
  };
  const input = JSON.stringify(params);
  const isNamed = onto === 'working_tree' || name !== '';
  const preview = useLoaded(
    isNamed ? sessionId : undefined,
    `${onto} ${name}`,
    (signal) => changesApi.apply(sessionId, params, true, signal),
    onto === 'branch' ? changesTabLimits.typedWaitMs : 0,
  );
  const apply = async () => {
    setApplying(true);
    try {
      const { files_count: count, branch: target } = await changesApi.apply(sessionId, params, false);
      ui.closeDialog();
      ui.notify(`${plural(count, 'file')} applied to ${target === null ? 'the working tree' : cleanLine(target)}.`);
      changesPage.reload();
    } catch (error) {
      setFailure({ input, error });
      setApplying(false);
    }
  };
  // An error is about the input that caused it.
  const problem = failure?.input === input ? failure.error : preview.isLoading ? undefined : preview.problem;
  const isEmpty = preview.value?.files_count === 0;
  return (
    <FormDialog
      label="Apply changes"
      className="changes-dialog"
      onSubmit={() => inBackground(apply())}
      submit={
        <button
          type="submit"
          className="primary"
          disabled={preview.value === undefined || preview.isLoading || isEmpty || problem !== undefined || isApplying}
        >
          {isApplying ? 'Applying …' : 'Apply'}
        </button>
      }
    >
      <h2>Apply changes</h2>
      <p className="quiet">
        {chosen.length === 0 ? 'All files of the session' : `${plural(chosen.length, 'chosen file')} of the session`},
        as of {formatClock(Date.parse(time))}.
      </p>
      <fieldset className="choices">
        <legend>Apply to</legend>
        {can.working_tree && (
          <label>
            <input
              type="radio"
              name="onto"
              checked={onto === 'working_tree'}
              onChange={() => setOnto('working_tree')}
            />{' '}
            the working tree
          </label>
        )}
        {can.branch && (
          <label>
            <input type="radio" name="onto" checked={onto === 'branch'} onChange={() => setOnto('branch')} /> a branch,
            as one commit
          </label>
        )}
      </fieldset>
      {onto === 'branch' && (
        <>
          <label htmlFor="apply-branch">Branch</label>
          <input id="apply-branch" value={branch} onChange={({ target }) => setBranch(target.value)} />
          <label htmlFor="apply-message">Commit message (optional)</label>
          <textarea id="apply-message" rows={3} value={message} onChange={({ target }) => setMessage(target.value)} />
        </>
      )}
      <h3>Preview</h3>
      {problem !== undefined ? (
        <Problem problem={problem} />
      ) : !isNamed ? (
        <p className="quiet">Enter the name of a branch.</p>
      ) : preview.value === undefined || preview.isLoading ? (
        <p className="quiet">Comparing with your files …</p>
      ) : isEmpty ? (
        <p>Nothing to write: {cleanLine(preview.value.branch ?? preview.value.directory)} has these changes already.</p>
      ) : (
        <>
          <p>
            Written to <code>{cleanLine(preview.value.directory)}</code>
            {preview.value.branch !== null && (
              <>
                , branch <code>{cleanLine(preview.value.branch)}</code>
              </>
            )}
            :
          </p>
          <FileList of={preview.value} />
        </>
      )}
    </FormDialog>
  );
}

function Problem({ problem }: { problem: unknown }) {
  const conflicts = conflictsOf(problem);
  if (conflicts === undefined)
    return (
      <p className="fault" role="alert">
        {cleanLine(messageOf(problem))}
      </p>
    );
  return (
    <div role="alert">
      <p className="fault">
        {plural(conflicts.count, 'file')} in conflict with your own changes. Nothing is written. Choose other files, or
        apply to a branch and merge it.
      </p>
      <ul className="conflicts">
        {conflicts.files.map(({ path, text }) => (
          <li key={path}>
            <code>{cleanLine(path)}</code> <span className="quiet">{cleanLine(text)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
