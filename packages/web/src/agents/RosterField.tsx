import type { Agent, RosterReference } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';

interface RosterFieldProps {
  readonly agents: readonly Agent[];
  readonly members: readonly RosterReference[];
  readonly onChange: (members: readonly RosterReference[]) => void;
}

/** The agents that an agent may delegate to, each at one version. */
export function RosterField({ agents, members, onChange }: RosterFieldProps) {
  const isMember = ({ id }: Agent) => members.some((member) => member.id === id);
  const archived = members.filter(({ id }) => agents.every((agent) => agent.id !== id));
  const toggle = ({ id, version }: Agent, isOn: boolean) =>
    onChange(isOn ? [...members, { type: 'agent', id, version }] : members.filter((one) => one.id !== id));
  return (
    <fieldset className="roster-field">
      <legend>May delegate to</legend>
      {agents.length === 0 && <p className="quiet">No other agents yet.</p>}
      {agents.slice(0, SHOWN_MAX).map((agent) => {
        const { id, name, version: newest } = agent;
        const member = members.find((one) => one.id === id);
        return (
          <span key={id} className="member">
            <label>
              <input
                type="checkbox"
                checked={isMember(agent)}
                onChange={(event) => toggle(agent, event.target.checked)}
              />{' '}
              {cleanLine(name)} <span className="quiet">v{member?.version ?? newest}</span>
            </label>
            {member !== undefined && member.version !== newest && (
              <button
                type="button"
                onClick={() => onChange(members.map((one) => (one === member ? { ...one, version: newest } : one)))}
              >
                use v{newest}
              </button>
            )}
          </span>
        );
      })}
      {archived.map(({ id, version }) => (
        <span key={id} className="member quiet">
          {cleanLine(id)} v{version} (archived){' '}
          <button type="button" onClick={() => onChange(members.filter((one) => one.id !== id))}>
            Remove
          </button>
        </span>
      ))}
    </fieldset>
  );
}

/** Agents to choose from. A roster has at most 20 agents; agents beyond these are chosen through the API. */
const SHOWN_MAX = 100;
