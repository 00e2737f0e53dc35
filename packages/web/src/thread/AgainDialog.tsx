import type { Session } from '@fleetloom/protocol/managed-agents';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Modal } from '../app/Modal.tsx';
import { fleet, ui } from '../app/stores.ts';
import { api } from '../connection/api.ts';
import { placeOf } from './Beside.tsx';
import { firstMessage, toAgain, toFork } from './run-again.ts';

/**
 * The same session once more, from its beginning or from the moment that is shown, with another model, prompt or message; it
 * opens beside the one that it comes from.
 */
export function AgainDialog({ sessionId }: { sessionId: string }) {
  const shown = fleet.shown().find(({ session }) => session.id === sessionId);
  const record = shown?.session.record;
  const [model, setModel] = useState(record?.agent.model.id ?? '');
  const [system, setSystem] = useState(record?.agent.system ?? '');
  const [task, setTask] = useState('');
  const [next, setNext] = useState('');
  const [from, setFrom] = useState<'beginning' | 'here'>(fleet.replay.isOn ? 'here' : 'beginning');
  const [isStarting, setStarting] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  // A dialog that opens takes what comes first, and what is typed belongs here.
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    // Whoever types before it is here has something else in mind.
    const take = (first: string) => setTask((typed) => (typed === '' ? first : typed));
    firstMessage(sessionId).then(take, (error: unknown) => ui.fail(error));
  }, [sessionId]);
  if (record === undefined) return null;
  const start = async (event: FormEvent) => {
    event.preventDefault();
    setStarting(true);
    try {
      const made = from === 'here' ? await fork(record) : await runAgain(record);
      fleet.replay.toLive();
      await fleet.refreshSessions();
      const primary = shown?.rows[0];
      const beside = primary === undefined ? undefined : placeOf(primary);
      ui.go({ view: 'thread', sessionId: made.id, beside });
    } catch (error) {
      ui.fail(error);
      setStarting(false);
    }
  };
  const runAgain = (first: Session) =>
    api.post<Session>('v1/sessions', toAgain(first, { message: task, model, system }));
  const fork = async (first: Session) => {
    const at = fleet.replay.cursorIn(sessionId);
    const made = await api.post<Session>(`v1/sessions/${sessionId}/fork`, toFork(first, { model, system }, at));
    const text = next.trim();
    if (text !== '') await api.send(made.id, { type: 'user.message', content: [{ type: 'text', text }] });
    return made;
  };
  const isHere = from === 'here';
  return (
    <Modal label="Another way" className="message-dialog">
      <form onSubmit={(event) => void start(event)}>
        <p>
          <b>Another way</b> <span className="quiet">a new session, beside this one</span>
        </p>
        <fieldset className="choices">
          <legend>Start from</legend>
          <label>
            <input type="radio" name="from" checked={!isHere} onChange={() => setFrom('beginning')} /> the beginning
          </label>
          <label>
            <input type="radio" name="from" checked={isHere} onChange={() => setFrom('here')} />
            {fleet.replay.isOn ? ' the moment that is shown' : ' here, with all that was said'}
          </label>
        </fieldset>
        <label htmlFor="again-message">{isHere ? 'Next message' : 'Task'}</label>
        <textarea
          id="again-message"
          ref={field}
          rows={4}
          value={isHere ? next : task}
          onChange={(event) => (isHere ? setNext : setTask)(event.target.value)}
        />
        {isHere && <p className="quiet">Files that agents have written are not taken along.</p>}
        <label htmlFor="again-model">Model of {record.agent.name}</label>
        <input id="again-model" value={model} onChange={(event) => setModel(event.target.value)} />
        <label htmlFor="again-system">System prompt</label>
        <textarea id="again-system" rows={5} value={system} onChange={(event) => setSystem(event.target.value)} />
        <footer>
          <button type="button" onClick={() => ui.set({ dialog: undefined })}>
            Cancel <kbd>Esc</kbd>
          </button>
          <button
            type="submit"
            className="primary"
            disabled={(!isHere && task.trim() === '') || model === '' || isStarting}
          >
            {isStarting ? 'Starting …' : isHere ? 'Fork' : 'Run'}
          </button>
        </footer>
      </form>
    </Modal>
  );
}
