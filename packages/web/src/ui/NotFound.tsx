import { cutText } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';

interface NotFoundProps {
  readonly what: 'page' | 'session' | 'thread' | 'agent' | 'vault';
  /** The name or id in the link. */
  readonly name: string;
  readonly hint: string;
}

/** The message for a link to an object that does not exist, with a hint where to go instead. */
export function NotFound({ what, name, hint }: NotFoundProps) {
  return (
    <section className="nothing" aria-label="Not found">
      <h1>
        There is no {what} <code>{cutText(cleanLine(name), 80)}</code>
      </h1>
      <p className="quiet">{hint}</p>
      <p>
        <a href="#/sessions">All sessions</a> · <a href="#/fleet">Fleet</a> · <a href="#/inbox">Inbox</a>
      </p>
    </section>
  );
}
