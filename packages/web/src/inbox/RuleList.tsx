import type { StandingRule } from '@fleetloom/protocol/fleet';
import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import { useEffect } from 'react';
import { plural } from '../model/format.ts';
import { approvalRules } from '../stores/approval-rules.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet } from '../stores/stores.ts';

/** The rules by which the server allows calls without asking, each with a button that revokes it. */
export function RuleList() {
  useSignal(approvalRules.changed);
  useEffect(() => inBackground(approvalRules.load()), []);
  const { rules, state, problem } = approvalRules;
  if (state === 'failed') {
    return (
      <section className="decided" aria-label="Approval rules">
        <p className="fault">The approval rules cannot be read: {problem}</p>
      </section>
    );
  }
  if (rules.length === 0) return null;
  return (
    <section className="decided rules" aria-label="Approval rules">
      <h2>Always allowed: {plural(rules.length, 'rule')}</h2>
      <table>
        <tbody>
          {rules.map((rule) => (
            <tr key={rule.id}>
              <td className="mono">
                <div title={cleanText(rule.text)}>{cleanLine(rule.text)}</div>
              </td>
              <td className="quiet">{describeScope(rule)}</td>
              <td className="quiet span" title={rule.created_at}>
                by {cleanLine(rule.created_by)}
                {rule.expires_at !== null && ` until ${rule.expires_at.slice(0, 16).replace('T', ' ')} UTC`}
              </td>
              <td>
                <button
                  data-needs="manage"
                  type="button"
                  aria-label={`Revoke ${cleanLine(rule.text)}`}
                  onClick={() => inBackground(approvalRules.revoke(rule))}
                >
                  Revoke
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function describeScope({ scope, agent_name: name }: StandingRule): string {
  const who = name === null ? 'every agent' : cleanLine(name);
  if (scope.type === 'agent') return `${who} in every session of ${nameOfAgent(scope.agent_id)}`;
  const title = fleet.model.sessions.get(scope.session_id)?.model.record?.title;
  return `${who} in ${title == null ? 'one session' : cleanLine(title)}`;
}

/** The id of an agent if none of its sessions is loaded. */
function nameOfAgent(id: string): string {
  const found = [...fleet.model.sessions.values()].find(({ model }) => model.record?.agent.id === id);
  return cleanLine(found?.model.record?.agent.name ?? id);
}
