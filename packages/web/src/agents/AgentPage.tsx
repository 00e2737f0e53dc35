import { type Agent, builtInToolNames, type Session } from '@fleetloom/protocol/managed-agents';
import { type FormEvent, useState } from 'react';
import { api } from '../connection/api.ts';
import { fleet, ui } from '../app/stores.ts';
import { ensureEnvironment } from '../connection/ensure-environment.ts';
import { cleanLine } from '../text/clean-text.ts';
import { LongText } from '../text/LongText.tsx';
import { AgentForm } from './AgentForm.tsx';

interface AgentPageProps {
  readonly agent: Agent;
  readonly agents: readonly Agent[];
  readonly onChanged: () => void;
}

export function AgentPage({ agent, agents, onChanged }: AgentPageProps) {
  const [isEditing, setEditing] = useState(false);
  if (isEditing) {
    return (
      <AgentForm
        agent={agent}
        agents={agents}
        onSaved={() => {
          setEditing(false);
          onChanged();
        }}
      />
    );
  }
  const archive = async () => {
    try {
      await api.post(`v1/agents/${agent.id}/archive`, {});
      ui.go({ view: 'agents' });
      onChanged();
    } catch (error) {
      ui.fail(error);
    }
  };
  return (
    <article className="card" aria-label={agent.name}>
      <header>
        <p className="card-path">
          <b>{cleanLine(agent.name)}</b>
        </p>
        <p className="quiet">
          {cleanLine(agent.model.id)} · version {agent.version} · {agent.id}
        </p>
        {agent.description !== null && <p>{cleanLine(agent.description)}</p>}
      </header>
      <StartForm agent={agent} />
      <section>
        <h2>Tools</h2>
        <Tools agent={agent} />
      </section>
      <Roster agent={agent} agents={agents} />
      {agent.system !== null && (
        <section>
          <h2>System prompt</h2>
          <LongText text={agent.system} />
        </section>
      )}
      <footer className="card-actions">
        <button type="button" onClick={() => setEditing(true)}>
          Edit …
        </button>
        <button type="button" className="danger" onClick={() => void archive()}>
          Archive
        </button>
      </footer>
    </article>
  );
}

function StartForm({ agent }: { agent: Agent }) {
  const [text, setText] = useState('');
  const [isStarting, setStarting] = useState(false);
  const start = async (event: FormEvent) => {
    event.preventDefault();
    setStarting(true);
    try {
      const session = await api.post<Session>('v1/sessions', {
        agent: agent.id,
        environment_id: await ensureEnvironment(),
        initial_events: [{ type: 'user.message', content: [{ type: 'text', text: text.trim() }] }],
      });
      await fleet.refreshSessions();
      ui.go({ view: 'thread', sessionId: session.id });
    } catch (error) {
      ui.fail(error);
      setStarting(false);
    }
  };
  return (
    <form className="start-form" onSubmit={(event) => void start(event)}>
      <label htmlFor="start-text">Start a session with</label>
      <textarea
        id="start-text"
        rows={3}
        value={text}
        placeholder="What should it do?"
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="primary" disabled={text.trim() === '' || isStarting}>
        {isStarting ? 'Starting …' : 'Start'}
      </button>
    </form>
  );
}

/** Which calls are made, asked for, or not possible. */
function Tools({ agent }: { agent: Agent }) {
  if (agent.tools.length === 0) return <p className="quiet">none</p>;
  return (
    <ul className="tool-list">
      {agent.tools.flatMap((tool) => {
        if (tool.type === 'custom') return [<li key={tool.name}>{cleanLine(tool.name)} · you give its results</li>];
        if (tool.type === 'mcp_toolset')
          return [<li key={tool.mcp_server_name}>{cleanLine(tool.mcp_server_name)} · MCP</li>];
        return builtInToolNames.map((name) => {
          const config = tool.configs.find((one) => one.name === name) ?? tool.default_config;
          const policy = config.enabled ? config.permission_policy.type.replace('_', ' ') : 'off';
          return (
            <li key={name} data-policy={policy}>
              {name} · {policy}
            </li>
          );
        });
      })}
    </ul>
  );
}

function Roster({ agent, agents }: { agent: Agent; agents: readonly Agent[] }) {
  const { multiagent } = agent;
  const members =
    multiagent === null
      ? []
      : multiagent.type === 'coordinator'
        ? multiagent.agents
        : multiagent.subagents.type === 'enabled'
          ? multiagent.subagents.predefined_agents
          : [];
  if (members.length === 0) return null;
  return (
    <section>
      <h2>May delegate to</h2>
      <ul className="tool-list">
        {members.map(({ id, version }) => (
          <li key={id}>
            <a href={`#/agents/${id}`}>{cleanLine(agents.find((one) => one.id === id)?.name ?? id)}</a> v{version}
          </li>
        ))}
      </ul>
    </section>
  );
}
