import type { PushDevice, PushKind, PushQuietHours } from '@fleetloom/protocol/fleet';
import { useEffect } from 'react';
import { inBackground } from '../../stores/connection/in-background.ts';
import { explainPush, push } from '../../stores/notices/push.ts';
import { useSignal } from '../../stores/signal.ts';
import './push.css';

/** Push messages to this device, also while the dashboard is closed, and the other devices of the workspace. */
export function PushSettings() {
  useSignal(push.changed);
  useEffect(() => inBackground(push.load()), []);
  const { own, devices, support, problem, isBusy } = push;
  const others = (devices ?? []).filter((device) => device !== own);
  return (
    <section className="push-settings" aria-label="Push messages">
      <label>
        <input
          type="checkbox"
          checked={own !== undefined}
          disabled={isBusy || (support !== 'ready' && own === undefined)}
          onChange={(event) => inBackground(event.target.checked ? push.turnOn() : push.turnOff())}
        />{' '}
        Notify me on this device, also while the dashboard is closed
      </label>
      <p className="quiet" role="status">
        {devices === undefined ? 'Loading …' : explainPush(support, own)}
      </p>
      {problem !== '' && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
      {own !== undefined && <OwnDevice own={own} isBusy={isBusy} />}
      {others.length > 0 && (
        <>
          <h3>Other devices</h3>
          <ul>
            {others.map((device) => (
              <DeviceLine key={device.id} device={device} isBusy={isBusy} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function OwnDevice({ own, isBusy }: { own: PushDevice; isBusy: boolean }) {
  return (
    <>
      <fieldset className="choices" disabled={isBusy}>
        <legend>Notify me when a session</legend>
        <KindBox own={own} kind="approvals" label="needs me" />
        <KindBox own={own} kind="failures" label="fails" />
      </fieldset>
      <QuietHours own={own} isBusy={isBusy} />
      <label>
        <input
          type="checkbox"
          checked={own.include_content}
          disabled={isBusy}
          onChange={(event) => inBackground(push.change({ include_content: event.target.checked }))}
        />{' '}
        Include the names of sessions and what they wait for
      </label>
      <div>
        <button type="button" disabled={isBusy} onClick={() => inBackground(push.test())}>
          Send a test message
        </button>
      </div>
    </>
  );
}

/** A checkbox for one kind of messages. The last checked kind cannot be unchecked; the button above turns the device off. */
function KindBox({ own, kind, label }: { own: PushDevice; kind: PushKind; label: string }) {
  const isOn = own.notify.includes(kind);
  const toggled = isOn ? own.notify.filter((each) => each !== kind) : [...own.notify, kind];
  return (
    <label>
      <input
        type="checkbox"
        checked={isOn}
        disabled={toggled.length === 0}
        onChange={() => inBackground(push.change({ notify: toggled }))}
      />{' '}
      {label}
    </label>
  );
}

function QuietHours({ own, isBusy }: { own: PushDevice; isBusy: boolean }) {
  const quiet = own.quiet_hours;
  const set = (hours: PushQuietHours | null) => inBackground(push.change({ quiet_hours: hours }));
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const setTime = (change: Partial<PushQuietHours>) => {
    const hours = { ...(quiet ?? NIGHT), ...change, time_zone: timeZone };
    if (hours.from !== '' && hours.to !== '' && hours.from !== hours.to) set(hours);
  };
  return (
    <fieldset className="quiet-hours" disabled={isBusy}>
      <legend>Quiet hours of push messages</legend>
      <label>
        <input type="checkbox" checked={quiet !== null} onChange={() => (quiet === null ? setTime({}) : set(null))} />{' '}
        Send nothing between
      </label>
      {quiet !== null && (
        <>
          <label>
            from{' '}
            <input
              type="time"
              value={quiet.from}
              onChange={({ target }) => setTime({ from: target.value.slice(0, 5) })}
            />
          </label>
          <label>
            to{' '}
            <input type="time" value={quiet.to} onChange={({ target }) => setTime({ to: target.value.slice(0, 5) })} />
          </label>
          <span className="quiet">{quiet.time_zone}</span>
        </>
      )}
    </fieldset>
  );
}

const NIGHT = { from: '22:00', to: '07:00' };

function DeviceLine({ device, isBusy }: { device: PushDevice; isBusy: boolean }) {
  const { id, label, created_by: by, created_at: at, problem } = device;
  return (
    <li>
      <span>
        {label}, added by {by} on {at.slice(0, 10)}
        {problem !== null && <span className="fault"> The last message was not delivered: {problem}.</span>}
      </span>
      <button
        type="button"
        aria-label={`Remove ${label}`}
        disabled={isBusy}
        onClick={() => inBackground(push.remove(id))}
      >
        Remove
      </button>
    </li>
  );
}
