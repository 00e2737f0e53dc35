import type { Agent, Session } from '@fleetloom/protocol/managed-agents';
import { type FormEvent, useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { useDraft } from '../stores/drafts.ts';
import { fleet, ui } from '../stores/stores.ts';
import { ensureEnvironment } from '../stores/connection/ensure-environment.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { LongText } from '../ui/text/LongText.tsx';
import { AgentForm } from './AgentForm.tsx';
import { rosterOf } from './roster.ts';
import { ToolPolicies } from './ToolPolicies.tsx';
import { Versions } from './Versions.tsx';

interface AgentPageProps {
  readonly agent: Agent;
  readonly agents: readonly Agent[];
  readonly onChanged: () => void;
}

/** One agent: its definition, a form to start a session, editing and archiving. */
export function AgentPage({ agent, agents, onChanged }: AgentPageProps) {
  const [isEditing, setEditing] = useState(false);
  const [isAsking, setAsking] = useState(false);
  if (isEditing) {
    return (
      <AgentForm
        agent={agent}
        agents={agents}
        onSaved={() => {
          setEditing(false);
          onChanged();
        }}
        onCancel={() => setEditing(false)}
      />
    );
  }
  const archive = async () => {
    try {
      await api.post(`v1/agents/${agent.id}/archive`, {});
      ui.go({ view: 'agents' });
      onChanged();
    } catch (error) {
      ui.notifyError(error);
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
        <span className="agent-actions">
          <button type="button" onClick={() => setEditing(true)}>
            Edit …
          </button>
          {isAsking && <span>No new session can use it. Sessions that exist keep it.</span>}
          <button type="button" className="danger" onClick={() => (isAsking ? void archive() : setAsking(true))}>
            {isAsking ? 'Archive it for good' : 'Archive …'}
          </button>
        </span>
      </header>
      <StartForm agent={agent} />
      <section>
        <h2>Tools</h2>
        <ToolPolicies tools={agent.tools} />
      </section>
      <Roster agent={agent} agents={agents} />
      {agent.system !== null && (
        <section>
          <h2>System prompt</h2>
          <LongText text={agent.system} />
        </section>
      )}
      <section>
        <h2>Versions</h2>
        <Versions agent={agent} agents={agents} />
      </section>
    </article>
  );
}

function StartForm({ agent }: { agent: Agent }) {
  const draft = useDraft(`start ${agent.id}`);
  const { text } = draft;
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
      draft.clear();
      await fleet.refreshSessions();
      ui.go({ view: 'session', sessionId: session.id });
    } catch (error) {
      ui.notifyError(error);
      setStarting(false);
    }
  };
  return (
    <form className="start-form" onSubmit={(event) => void start(event)}>
      <h2>Try it</h2>
      <label htmlFor="start-text">Start a session with</label>
      <textarea
        id="start-text"
        rows={3}
        value={text}
        placeholder="Task for the agent"
        onChange={(event) => draft.set(event.target.value)}
      />
      <button type="submit" className="primary" disabled={text.trim() === '' || isStarting}>
        {isStarting ? 'Starting …' : 'Start'}
      </button>
    </form>
  );
}

function Roster({ agent, agents }: { agent: Agent; agents: readonly Agent[] }) {
  const members = rosterOf(agent);
  if (members.length === 0) return null;
  return (
    <section>
      <h2>May delegate to</h2>
      <ul className="tool-list">
        {members.map(({ id, version, isolation }) => (
          <li key={id}>
            <a href={`#/agents/${id}`}>{cleanLine(agents.find((one) => one.id === id)?.name ?? id)}</a> v{version}
            {isolation !== undefined && <span className="quiet"> in a worktree</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
