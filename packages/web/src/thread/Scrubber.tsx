import { type PointerEvent as ReactPointerEvent, useEffect, useRef } from 'react';
import { readPalette } from '../app/palette.ts';
import { speeds } from '../app/replay-player.ts';
import { useSignal } from '../app/signal.ts';
import { fleet, ui } from '../app/stores.ts';
import type { TimeSpan } from '../fleet/lane-view.ts';
import { formatClock } from '../model/format.ts';
import type { SessionModel } from '../model/session-model.ts';
import { markText } from './mark-text.ts';
import { paintScrubber } from './paint-scrubber.ts';

/** The whole session as a line of time: how much happened when, and what somebody may look for. Dragging on it goes there. */
export function Scrubber({ session }: { session: SessionModel }) {
  const { replay } = fleet;
  useSignal(replay.changed);
  useSignal(fleet.changed);
  const canvas = useRef<HTMLCanvasElement>(null);
  const span = spanOf(session);
  const time = replay.isOn ? fleet.now() : span.to;
  useEffect(() => {
    if (canvas.current !== null)
      paintScrubber(canvas.current, session, span, replay.isOn ? time : undefined, readPalette());
  });
  const seek = (event: ReactPointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const wanted = timeAt(event.clientX, box, span);
    if (replay.isOn && replay.session?.id === session.id) replay.seek(wanted);
    else if (!replay.isReading) replay.open(session, wanted).catch((error: unknown) => ui.fail(error));
  };
  return (
    <footer className="scrubber" aria-label="Replay">
      <div className="scrubber-buttons">
        <button
          type="button"
          title="Back one event ([)"
          aria-label="Back one event"
          onClick={() => stepOrOpen(session, -1)}
        >
          <Icon path="M2 2h2v8H2zM10 2v8L4.5 6z" />
        </button>
        <button
          type="button"
          title="Play or pause (Space)"
          aria-label={replay.isPlaying ? 'Pause' : 'Play'}
          onClick={() => playOrOpen(session)}
        >
          <Icon path={replay.isPlaying ? 'M2 2h3v8H2zM7 2h3v8H7z' : 'M2.5 1.5v9L10 6z'} />
        </button>
        <button type="button" title="On one event (])" aria-label="On one event" onClick={() => stepOrOpen(session, 1)}>
          <Icon path="M8 2h2v8H8zM2 2v8l5.5-4z" />
        </button>
        <span className="choice" role="group" aria-label="Speed">
          {speeds.map((speed) => (
            <button
              key={speed}
              type="button"
              aria-pressed={replay.speed === speed}
              onClick={() => {
                replay.speed = speed;
                replay.changed.emit();
              }}
            >
              {speed}×
            </button>
          ))}
        </span>
        <label className="skip-idle">
          <input
            type="checkbox"
            checked={replay.isSkippingIdle}
            onChange={(event) => {
              replay.isSkippingIdle = event.target.checked;
              replay.changed.emit();
            }}
          />
          skip idle
        </label>
      </div>
      <div
        className="scrubber-track"
        role="slider"
        tabIndex={0}
        aria-label="Time of the session"
        aria-valuemin={Math.round(span.from)}
        aria-valuemax={Math.round(span.to)}
        aria-valuenow={Math.round(time)}
        aria-valuetext={replay.isOn ? formatClock(time) : 'live'}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          seek(event);
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) seek(event);
          const box = event.currentTarget.getBoundingClientRect();
          const nearMs = (NEAR_PIXELS * (span.to - span.from)) / box.width;
          event.currentTarget.title = markText(session, timeAt(event.clientX, box, span), nearMs);
        }}
      >
        <canvas ref={canvas} />
      </div>
      <span className="scrubber-time">
        {formatClock(time)}
        <small>
          {replay.isOn ? `event ${replay.count} of ${replay.replay?.length}` : replay.isReading ? 'reading …' : 'live'}
        </small>
      </span>
    </footer>
  );
}

function Icon({ path }: { path: string }) {
  return (
    <svg width="12" height="12" viewBox="0 0 12 12" fill="currentColor" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

const NEAR_PIXELS = 4;

function timeAt(x: number, { left, width }: DOMRect, { from, to }: TimeSpan): number {
  return from + Math.max(0, Math.min(1, (x - left) / width)) * (to - from);
}

function spanOf(session: SessionModel): TimeSpan {
  const from = session.firstAt ?? 0;
  return { from, to: Math.max(from + 1_000, session.slots.lastAt ?? from) };
}

export function playOrOpen(session: SessionModel): void {
  const { replay } = fleet;
  if (replay.isPlaying) return replay.pause();
  if (replay.isOn) return replay.play();
  replay
    .open(session, spanOf(session).from)
    .then(() => replay.play())
    .catch((error: unknown) => ui.fail(error));
}

/** From live, one step back is the moment before the last event. */
export function stepOrOpen(session: SessionModel, direction: 1 | -1, by: 'event' | 'turn' = 'event'): void {
  const { replay } = fleet;
  if (replay.isOn) return replay.step(by, direction);
  if (direction === 1) return;
  replay
    .open(session, spanOf(session).to)
    .then(() => replay.step(by, -1))
    .catch((error: unknown) => ui.fail(error));
}
