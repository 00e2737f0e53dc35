import type { Agent, Tool } from '@fleetloom/protocol/managed-agents';
import { type FormEvent, useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { ui } from '../stores/stores.ts';
import { ModelField } from './ModelField.tsx';
import { rosterOf, toRosterParams } from './roster.ts';
import { RosterField } from './RosterField.tsx';
import { askForAll } from './tool-policies.ts';
import { ToolPolicies } from './ToolPolicies.tsx';

interface AgentFormProps {
  /** The agent to edit. Undefined creates an agent. */
  readonly agent: Agent | undefined;
  readonly agents: readonly Agent[];
  readonly onSaved: () => void;
  readonly onCancel: () => void;
}

/** Creates or edits an agent: name, model, prompts, tools and roster. Other settings keep their values. */
export function AgentForm({ agent, agents, onSaved, onCancel }: AgentFormProps) {
  const [name, setName] = useState(agent?.name ?? '');
  const [model, setModel] = useState(agent?.model.id ?? '');
  const [description, setDescription] = useState(agent?.description ?? '');
  const [system, setSystem] = useState(agent?.system ?? '');
  const [tools, setTools] = useState<readonly Tool[]>(agent?.tools ?? [askForAll]);
  const before = agent === undefined ? [] : rosterOf(agent);
  const [members, setMembers] = useState(before);
  const [problem, setProblem] = useState('');
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setProblem('');
    const fields = {
      name,
      description: description === '' ? null : description,
      system: system === '' ? null : system,
    };
    // Model, tools and roster are sent only if they changed, so that effort, speed and the form of the roster are kept.
    const changed = {
      ...(model === agent?.model.id ? {} : { model }),
      ...(tools === agent?.tools ? {} : { tools }),
      ...(members === before ? {} : { multiagent: toRosterParams(agent ?? { multiagent: null }, members) }),
    };
    try {
      const path = agent === undefined ? 'v1/agents' : `v1/agents/${agent.id}`;
      const version = agent === undefined ? {} : { version: agent.version };
      const saved = await api.post<Agent>(path, { ...fields, ...changed, ...version });
      onSaved();
      ui.go({ view: 'agents', sessionId: saved.id });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form className="card agent-form" onSubmit={(event) => inBackground(save(event))}>
      <h1>{agent === undefined ? 'New agent' : `Edit ${agent.name}`}</h1>
      <label>
        Name <input required value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <ModelField value={model} onChange={setModel} />
      <label>
        Description <input value={description} onChange={(event) => setDescription(event.target.value)} />
      </label>
      <label>
        System prompt <textarea rows={8} value={system} onChange={(event) => setSystem(event.target.value)} />
      </label>
      <fieldset>
        <legend>Tools</legend>
        <ToolPolicies tools={tools} onChange={setTools} />
      </fieldset>
      <RosterField agents={agents.filter(({ id }) => id !== agent?.id)} members={members} onChange={setMembers} />
      {agent !== undefined && (
        <p className="quiet">
          Saving creates version {agent.version + 1}. Sessions keep the version they started with.
        </p>
      )}
      {problem !== '' && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
      <footer className="card-actions">
        <button type="submit" className="primary">
          Save
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </footer>
    </form>
  );
}
