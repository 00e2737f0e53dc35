import type { FleetSession } from '@fleetloom/protocol/fleet';
import { sessionGlyphs, toSessionCells } from '../model/session-cells.ts';

/** The sessions that cost most. */
export function CostSessions({ sessions, now }: { sessions: readonly FleetSession[]; now: number }) {
  if (sessions.length === 0) return null;
  return (
    <section aria-label="Sessions">
      <h2>
        Sessions that cost most <a href="#/sessions?sort=cost">all sessions by cost</a>
      </h2>
      <table className="sums sessions-by-cost">
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col">Agent</th>
            <th scope="col">Tokens</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => {
            const { name, agent, tokens, cost, state, glyph, word } = toSessionCells(session, now);
            return (
              <tr key={session.id}>
                <td>
                  <span data-ink={sessionGlyphs[state].ink} title={word} aria-hidden="true">
                    {glyph}
                  </span>{' '}
                  <a href={`#/session/${session.id}`}>{name}</a>
                </td>
                <td>{agent}</td>
                <td>{tokens}</td>
                <td>{cost}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
