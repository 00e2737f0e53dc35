import type { CapturedResponse, VaultCredentialValidation } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatClock } from '../model/format.ts';
import { LongText } from '../ui/text/LongText.tsx';

const words = {
  valid: ['✓', 'The server accepts it'],
  invalid: ['✗', 'The server does not accept it'],
  unknown: ['?', 'It is not known whether the server accepts it'],
} as const;

/** The result of a validation: the verdict, and the failed step with its response. */
export function Validation({ validation }: { validation: VaultCredentialValidation }) {
  const { status, mcp_probe: probe, refresh, validated_at: at } = validation;
  const [glyph, word] = words[status];
  return (
    <section className="validation" data-verdict={status} role="status" aria-label="Validation">
      <p>
        <i aria-hidden="true">{glyph}</i> {word} <span className="quiet">{formatClock(Date.parse(at))}</span>
      </p>
      {probe !== null && <Step name={cleanLine(probe.method)} response={probe.http_response} />}
      {refresh !== null && (
        <Step name={`Renewal: ${refresh.status.replaceAll('_', ' ')}`} response={refresh.http_response} />
      )}
    </section>
  );
}

function Step({ name, response }: { name: string; response: CapturedResponse | null }) {
  return (
    <>
      <p className="quiet">
        {name}
        {response !== null && `: status ${response.status_code}`}
        {response?.body_truncated === true && ', the beginning of the body'}
      </p>
      {response !== null && response.body !== '' && <LongText text={response.body} />}
    </>
  );
}
