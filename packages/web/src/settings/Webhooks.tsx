import type { FleetWebhook } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatAgo, plural } from '../model/format.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { CopyLine } from '../ui/text/CopyLine.tsx';

/** The URLs of the configured webhooks, each with its newest deliveries. */
export function Webhooks({ webhooks }: { webhooks: readonly FleetWebhook[] }) {
  if (webhooks.length === 0) {
    return (
      <>
        <p className="quiet">None is configured. A webhook receives the status changes of all sessions:</p>
        <CopyLine text="npx fleetloom start --webhook https://example.com/fleetloom" />
      </>
    );
  }
  return (
    <>
      {webhooks.map((webhook, index) => (
        <WebhookFacts key={index} webhook={webhook} />
      ))}
      <p className="quiet">
        Paths are not shown, because they often contain a secret. Deliveries are those since the start of the server.
      </p>
    </>
  );
}

function WebhookFacts({ webhook }: { webhook: FleetWebhook }) {
  const { address, is_gone: isGone, delivered_count: delivered, waiting_count: waiting, deliveries } = webhook;
  const isFailing = isGone || (deliveries[0]?.problem ?? null) !== null;
  return (
    <article className="webhook" aria-label={address}>
      <h3>
        <code>{cleanLine(address)}</code>{' '}
        <span data-ink={isFailing ? 'error' : 'tool'}>
          {isGone ? '✗ stopped: it answered 410' : isFailing ? '↻ failing, retried' : '✓ working'}
        </span>
      </h3>
      <p className="quiet">
        {plural(delivered, 'event')} delivered · {plural(waiting, 'session')} waiting
      </p>
      {deliveries.length > 0 && (
        <ol className="deliveries" aria-label="Newest deliveries">
          {deliveries.map(({ at, delivered_count: count, problem }, index) => (
            <li key={index}>
              <time dateTime={at}>{formatAgo(Math.max(0, serverNow() - Date.parse(at)))}</time>
              <span>{plural(count, 'event')}</span>
              {problem !== null && <span className="fault">{cleanLine(problem)}</span>}
            </li>
          ))}
        </ol>
      )}
    </article>
  );
}
