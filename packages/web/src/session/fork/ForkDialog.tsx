import type { Session } from '@fleetloom/protocol/managed-agents';
import { useEffect, useRef, useState } from 'react';
import { inBackground } from '../../stores/connection/in-background.ts';
import { FormDialog } from '../../ui/FormDialog.tsx';
import { fleet, ui } from '../../stores/stores.ts';
import { api } from '../../stores/connection/api.ts';
import { toBeside } from '../../stores/ui-store.ts';
import { hasWorkspace } from '../../model/has-workspace.ts';
import { firstMessage, toRerun, toFork } from './fork-session.ts';

/** Runs a session again from its beginning, or forks it at the moment shown, with another model, prompt or message; opens beside the original. */
export function ForkDialog({ sessionId }: { sessionId: string }) {
  const shown = fleet.shown().find(({ session }) => session.id === sessionId);
  const record = shown?.session.record;
  const [model, setModel] = useState(record?.agent.model.id ?? '');
  const [system, setSystem] = useState(record?.agent.system ?? '');
  const [task, setTask] = useState('');
  const [next, setNext] = useState('');
  const [from, setFrom] = useState<'beginning' | 'here'>(fleet.replay.isOn ? 'here' : 'beginning');
  const [isStarting, setStarting] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  // Focuses the text field. The dialog would focus its first control, a radio button, but the user wants to type.
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    // Keeps what the user typed before the first message was loaded.
    const take = (first: string) => setTask((typed) => (typed === '' ? first : typed));
    firstMessage(sessionId).then(take, (error: unknown) => ui.notifyError(error));
  }, [sessionId]);
  if (record === undefined) return null;
  const start = async () => {
    setStarting(true);
    try {
      const made = from === 'here' ? await fork(record) : await runAgain(record);
      fleet.replay.toLive();
      await fleet.refreshSessions();
      const primary = shown?.rows[0];
      const beside = primary === undefined ? undefined : toBeside(primary);
      ui.go({ view: 'session', sessionId: made.id, beside });
    } catch (error) {
      ui.notifyError(error);
      setStarting(false);
    }
  };
  const runAgain = (first: Session) =>
    api.post<Session>('v1/sessions', toRerun(first, { message: task, model, system }));
  const fork = async (first: Session) => {
    const at = fleet.replay.cursorIn(sessionId);
    const made = await api.post<Session>(`v1/sessions/${sessionId}/fork`, toFork(first, { model, system }, at));
    const text = next.trim();
    if (text !== '') await api.send(made.id, { type: 'user.message', content: [{ type: 'text', text }] });
    return made;
  };
  const isHere = from === 'here';
  return (
    <FormDialog
      label="Fork or run again"
      onSubmit={() => inBackground(start())}
      submit={
        <button
          type="submit"
          className="primary"
          disabled={(!isHere && task.trim() === '') || model === '' || isStarting}
        >
          {isStarting ? 'Starting …' : isHere ? 'Fork' : 'Run'}
        </button>
      }
    >
      <p>
        <b>Fork or run again</b> <span className="quiet">creates a session and shows it beside this one</span>
      </p>
      <fieldset className="choices">
        <legend>Start from</legend>
        <label>
          <input type="radio" name="from" checked={!isHere} onChange={() => setFrom('beginning')} /> the beginning
        </label>
        <label>
          <input type="radio" name="from" checked={isHere} onChange={() => setFrom('here')} />
          {fleet.replay.isOn ? ' the moment shown' : ' here, with the whole history'}
        </label>
      </fieldset>
      <label htmlFor="fork-message">{isHere ? 'Next message' : 'Task'}</label>
      <textarea
        id="fork-message"
        ref={field}
        rows={4}
        value={isHere ? next : task}
        onChange={(event) => (isHere ? setNext : setTask)(event.target.value)}
      />
      {isHere && shown !== undefined && (
        <p className="quiet">
          {hasWorkspace(shown.session)
            ? 'The fork starts with the files of that moment, in a workspace of its own.'
            : 'Files written by agents are not copied.'}
        </p>
      )}
      <label htmlFor="fork-model">Model of {record.agent.name}</label>
      <input id="fork-model" value={model} onChange={(event) => setModel(event.target.value)} />
      <label htmlFor="fork-system">System prompt</label>
      <textarea id="fork-system" rows={5} value={system} onChange={(event) => setSystem(event.target.value)} />
    </FormDialog>
  );
}
