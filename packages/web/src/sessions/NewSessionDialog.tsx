import type { Agent } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { useEffect, useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { useDraft } from '../stores/drafts.ts';
import { readModels } from '../stores/known-models.ts';
import { createSession } from '../stores/session-actions.ts';
import { sessionList } from '../stores/stores.ts';
import { withCommandKey } from '../ui/command-key.ts';
import { FormDialog } from '../ui/FormDialog.tsx';

interface Choices {
  readonly agents: readonly Agent[];
  readonly models: readonly string[];
}

/** Starts a session: agent, model, repository, budget, first message. */
export function NewSessionDialog() {
  const [choices, setChoices] = useState<Choices | undefined>();
  const [problem, setProblem] = useState('');
  const [isStarting, setStarting] = useState(false);
  const message = useDraft('new session');
  const [agentId, setAgentId] = useState('');
  const [model, setModel] = useState('');
  const [repository, setRepository] = useState('');
  const [budget, setBudget] = useState('');
  useEffect(() => {
    readChoices().then(setChoices, (error: unknown) => setProblem(toText(error)));
  }, []);
  const agent = choices?.agents.find(({ id }) => id === agentId) ?? choices?.agents[0];
  const canStart = agent !== undefined && message.text.trim() !== '' && !isStarting;
  const start = async () => {
    if (agent === undefined || !canStart) return;
    setStarting(true);
    setProblem('');
    try {
      await createSession({ agentId: agent.id, model, repository, budget, message: message.text });
      message.clear();
    } catch (error) {
      setProblem(toText(error));
      setStarting(false);
    }
  };
  return (
    <FormDialog
      label="New session"
      className="new-session-dialog"
      onSubmit={() => inBackground(start())}
      submit={
        <button type="submit" className="primary" disabled={!canStart}>
          {isStarting ? 'Starting …' : 'Start'} <kbd>{withCommandKey('⏎')}</kbd>
        </button>
      }
    >
      <p>
        <b>New session</b>
      </p>
      <label htmlFor="new-message">First message</label>
      <textarea
        id="new-message"
        autoFocus
        rows={4}
        placeholder="What should the agent do?"
        value={message.text}
        onChange={(event) => message.set(event.target.value)}
      />
      <div className="new-session-fields">
        <label htmlFor="new-agent">
          Agent
          <select
            id="new-agent"
            aria-label="Agent"
            value={agent?.id ?? ''}
            onChange={(event) => setAgentId(event.target.value)}
          >
            {choices === undefined && <option value="">Loading …</option>}
            {choices?.agents.map(({ id, name }) => (
              <option key={id} value={id}>
                {cleanLine(name)}
              </option>
            ))}
          </select>
        </label>
        <label htmlFor="new-model">
          Model
          <select id="new-model" aria-label="Model" value={model} onChange={(event) => setModel(event.target.value)}>
            <option value="">
              {agent === undefined ? 'of the agent' : `${cleanLine(agent.model.id)} (of the agent)`}
            </option>
            {choices?.models
              .filter((id) => id !== agent?.model.id)
              .map((id) => (
                <option key={id} value={id}>
                  {cleanLine(id)}
                </option>
              ))}
          </select>
        </label>
        <label>
          Repository <span className="quiet">optional</span>
          <input
            list="known-repositories"
            placeholder="/path/on/the/server or https://…"
            value={repository}
            onChange={(event) => setRepository(event.target.value)}
          />
        </label>
        <datalist id="known-repositories">
          {knownRepositories().map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        <label>
          Budget <span className="quiet">US dollars, optional</span>
          <input
            type="number"
            min="0.01"
            step="0.01"
            placeholder="none"
            value={budget}
            onChange={(event) => setBudget(event.target.value)}
          />
        </label>
      </div>
      {choices?.agents.length === 0 && (
        <p>
          There is no agent yet. <a href="#/agents/new">Create one</a>, then press <kbd>c</kbd> again: your message is
          kept.
        </p>
      )}
      {problem !== '' && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
    </FormDialog>
  );
}

async function readChoices(): Promise<Choices> {
  const [agents, models] = await Promise.all([
    collect<Agent>('v1/agents?limit=100'),
    readModels().then(({ models: known }) => known.map(({ id }) => id)),
  ]);
  const used = agents.map((agent) => agent.model.id);
  return { agents, models: [...new Set([...used, ...models])].toSorted((left, right) => left.localeCompare(right)) };
}

async function collect<Item>(path: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of api.list<Item>(path)) items.push(item);
  return items;
}

/** The repositories of listed sessions. */
function knownRepositories(): readonly string[] {
  return [...new Set(sessionList.rows.flatMap(({ repository }) => repository ?? []))];
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
