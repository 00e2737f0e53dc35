import type { Session } from '@fleetloom/protocol/managed-agents';
import { type FormEvent, useEffect, useState } from 'react';
import { Modal } from '../app/Modal.tsx';
import { fleet, ui } from '../app/stores.ts';
import { api } from '../connection/api.ts';
import { placeOf } from './Beside.tsx';
import { firstMessage, toAgain } from './run-again.ts';

/** The same session once more, with another model, prompt or task; it opens beside the one that it comes from. */
export function AgainDialog({ sessionId }: { sessionId: string }) {
  const shown = fleet.shown().find(({ session }) => session.id === sessionId);
  const record = shown?.session.record;
  const [model, setModel] = useState(record?.agent.model.id ?? '');
  const [system, setSystem] = useState(record?.agent.system ?? '');
  const [message, setMessage] = useState('');
  const [isStarting, setStarting] = useState(false);
  useEffect(() => {
    // Whoever types before it is here has something else in mind.
    const take = (first: string) => setMessage((typed) => (typed === '' ? first : typed));
    firstMessage(sessionId).then(take, (error: unknown) => ui.fail(error));
  }, [sessionId]);
  if (record === undefined) return null;
  const start = async (event: FormEvent) => {
    event.preventDefault();
    setStarting(true);
    try {
      const again = await api.post<Session>('v1/sessions', toAgain(record, { message, model, system }));
      await fleet.refreshSessions();
      const primary = shown?.rows[0];
      const beside = primary === undefined ? undefined : placeOf(primary);
      ui.go({ view: 'thread', sessionId: again.id, beside });
    } catch (error) {
      ui.fail(error);
      setStarting(false);
    }
  };
  return (
    <Modal label="Run again" className="message-dialog">
      <form onSubmit={(event) => void start(event)}>
        <p>
          <b>Run again</b> <span className="quiet">from the beginning, beside the first run</span>
        </p>
        <label htmlFor="again-message">Task</label>
        <textarea
          id="again-message"
          autoFocus
          rows={4}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
        <label htmlFor="again-model">Model of {record.agent.name}</label>
        <input id="again-model" value={model} onChange={(event) => setModel(event.target.value)} />
        <label htmlFor="again-system">System prompt</label>
        <textarea id="again-system" rows={5} value={system} onChange={(event) => setSystem(event.target.value)} />
        <footer>
          <button type="button" onClick={() => ui.set({ dialog: undefined })}>
            Cancel <kbd>Esc</kbd>
          </button>
          <button type="submit" className="primary" disabled={message.trim() === '' || model === '' || isStarting}>
            {isStarting ? 'Starting …' : 'Run'}
          </button>
        </footer>
      </form>
    </Modal>
  );
}
