import type { FleetSettings } from '@fleetloom/protocol/fleet';
import { plural } from '../model/format.ts';

/** The data that the server deletes on its own, and when. */
export function Retention({ settings: { retention } }: { settings: FleetSettings }) {
  const { deltas, webhook_event_ms: webhookMs, login_ms: loginMs } = retention;
  const days = (ms: number) => plural(ms / 86_400_000, 'day');
  return (
    <>
      <dl className="facts">
        <dt>Sessions, transcripts, decisions</dt>
        <dd>until you delete the session</dd>
        <dt>Single text deltas</dt>
        <dd>
          {deltas === 'all'
            ? 'as long as the session'
            : deltas === 'none'
              ? 'until their turn ends; whole messages are kept'
              : `for ${plural(deltas.days, 'day')} after their turn; whole messages are kept`}
        </dd>
        <dt>Undelivered webhook events</dt>
        <dd>{days(webhookMs)}</dd>
        <dt>Logins of browsers</dt>
        <dd>
          {days(loginMs)}; login links {plural(retention.login_link_ms / 60_000, 'minute')}
        </dd>
      </dl>
      <p className="quiet">
        <code>--keep-deltas</code> of <code>fleetloom serve</code> sets how long deltas are kept.
      </p>
    </>
  );
}
