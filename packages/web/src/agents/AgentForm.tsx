import type { Agent } from '@fleetloom/protocol/managed-agents';
import { type FormEvent, useState } from 'react';
import { api } from '../connection/api.ts';
import { ui } from '../app/stores.ts';

interface AgentFormProps {
  /** Undefined: a new one. */
  readonly agent: Agent | undefined;
  readonly agents: readonly Agent[];
  readonly onSaved: () => void;
}

/** What an agent is made of, as far as a form should ask. Tools and the rest stay as they are. */
export function AgentForm({ agent, agents, onSaved }: AgentFormProps) {
  const [name, setName] = useState(agent?.name ?? '');
  const [model, setModel] = useState(agent?.model.id ?? 'scripted/research');
  const [description, setDescription] = useState(agent?.description ?? '');
  const [system, setSystem] = useState(agent?.system ?? '');
  const [members, setMembers] = useState<readonly string[]>([]);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const fields = {
      name,
      model,
      description: description === '' ? null : description,
      system: system === '' ? null : system,
    };
    const roster = members.length === 0 ? {} : { multiagent: { type: 'coordinator', agents: members } };
    const tools = {
      tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
    };
    try {
      const saved =
        agent === undefined
          ? await api.post<Agent>('v1/agents', { ...fields, ...tools, ...roster })
          : await api.post<Agent>(`v1/agents/${agent.id}`, { ...fields, ...roster, version: agent.version });
      onSaved();
      ui.go({ view: 'agents', sessionId: saved.id });
    } catch (error) {
      ui.fail(error);
    }
  };
  return (
    <form className="card agent-form" onSubmit={(event) => void save(event)}>
      <h1>{agent === undefined ? 'New agent' : `Edit ${agent.name}`}</h1>
      <label>
        Name <input required value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        Model <input required value={model} onChange={(event) => setModel(event.target.value)} />
      </label>
      <label>
        What it is for <input value={description} onChange={(event) => setDescription(event.target.value)} />
      </label>
      <label>
        System prompt <textarea rows={8} value={system} onChange={(event) => setSystem(event.target.value)} />
      </label>
      <fieldset>
        <legend>May delegate to</legend>
        {agents.length === 0 && <p className="quiet">There are no others yet.</p>}
        {agents
          .filter(({ id }) => id !== agent?.id)
          .slice(0, ROSTER_MAX * 2)
          .map(({ id, name: other }) => (
            <label key={id} className="member">
              <input
                type="checkbox"
                checked={members.includes(id)}
                onChange={(event) =>
                  setMembers(event.target.checked ? [...members, id] : members.filter((one) => one !== id))
                }
              />
              {other}
            </label>
          ))}
      </fieldset>
      <p className="quiet">
        {agent === undefined
          ? 'Its built-in tools ask before each call. That can be changed through the API.'
          : 'This makes a new version. Sessions that run keep theirs.'}
      </p>
      <footer className="card-actions">
        <button type="submit" className="primary">
          Save
        </button>
        <button type="button" onClick={() => ui.go({ view: 'agents' })}>
          Cancel
        </button>
      </footer>
    </form>
  );
}

const ROSTER_MAX = 20;
