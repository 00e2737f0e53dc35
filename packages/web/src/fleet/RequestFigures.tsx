import type { FleetLoad } from '@fleetloom/protocol/fleet';
import { load, useLoad } from '../stores/health.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet } from '../stores/stores.ts';
import { plural } from '../model/format.ts';
import type { Summary } from '../model/summary.ts';

/** Model requests in progress, their limit, and rejected requests, for the summary bar. */
export function RequestFigures({ summary }: { summary: Summary }) {
  useLoad();
  useSignal(load.changed);
  const { refusalsPerMinute, retriesPerMinute } = summary;
  // The limit is only known for the present, not in a replay.
  const { text, title, isBad } = toRequests(summary, fleet.replay.isOn ? undefined : load.value);
  return (
    <>
      <div title={title} data-bad={isBad} data-figure="requests">
        <dt>requests</dt>
        <dd>{text}</dd>
      </div>
      <div
        title="Requests that an endpoint refused for overload (429, 529) in the last minute, and retries for other reasons"
        data-bad={refusalsPerMinute + retriesPerMinute > 0}
      >
        <dt>429s</dt>
        <dd>
          {refusalsPerMinute}/min{retriesPerMinute > 0 && ` + ${retriesPerMinute} other`}
        </dd>
      </div>
    </>
  );
}

interface Figure {
  readonly text: string;
  readonly title: string;
  readonly isBad: boolean;
}

/** With an endpoint: the figures of its limiter. Without: the requests of the threads shown. */
function toRequests({ requests, queued }: Summary, known: FleetLoad | undefined): Figure {
  const shown = `${plural(requests, 'model request')} of the threads shown`;
  if (known === undefined || known.endpoint === null) {
    const title = known === undefined ? `${shown} in progress` : `${shown} in progress; their models have no limit`;
    const text = `${requests}${known === undefined ? '' : '/∞'}${queued > 0 ? ` + ${queued} queued` : ''}`;
    return { text, title, isBad: queued > 0 };
  }
  const { active, waiting, max, paused_ms: pausedMs } = known.endpoint;
  const whose = known.node_id === null || known.nodes < 2 ? undefined : known.node_id;
  const title = [
    `Endpoint: ${active} in progress, limit ${max}, ${waiting} queued`,
    ...(pausedMs > 0 ? [`Paused by the endpoint for ${Math.ceil(pausedMs / 1_000)} s`] : []),
    ...(whose === undefined ? [] : [`Figures of ${whose}, one of ${known.nodes} nodes`]),
    `${shown}, including programs and scripts, which have no limit`,
  ].join('\n');
  const text = `${active}/${max}${waiting > 0 ? ` + ${waiting} queued` : ''}${whose === undefined ? '' : ` · ${shortOf(whose)}`}`;
  return { text, title, isBad: waiting > 0 || pausedMs > 0 };
}

/** Enough characters to distinguish nodes. */
function shortOf(nodeId: string): string {
  return nodeId.slice(0, 'node_12345678'.length);
}
