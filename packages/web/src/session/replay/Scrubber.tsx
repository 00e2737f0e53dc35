import { type PointerEvent as ReactPointerEvent, useEffect, useRef } from 'react';
import { readCanvasColours } from '../../ui/lanes/canvas-colours.ts';
import { speeds } from '../../stores/replay-player.ts';
import { useSignal } from '../../stores/signal.ts';
import { fleet, ui } from '../../stores/stores.ts';
import type { TimeSpan } from '../../ui/lanes/time-span.ts';
import { formatClock } from '../../model/format.ts';
import type { SessionModel } from '../../model/session-model.ts';
import { playOrOpen, spanOf, stepOrOpen } from './replay-actions.ts';
import { markText } from './mark-text.ts';
import { paintScrubber } from './paint-scrubber.ts';

/** The timeline of a session: activity and marks. Dragging on it replays that moment. */
export function Scrubber({ session }: { session: SessionModel }) {
  const { replay } = fleet;
  useSignal(replay.changed);
  useSignal(fleet.changed);
  const canvas = useRef<HTMLCanvasElement>(null);
  const span = spanOf(session);
  const time = replay.isOn ? fleet.now() : span.to;
  useEffect(() => {
    if (canvas.current !== null)
      paintScrubber(canvas.current, session, span, replay.isOn ? time : undefined, readCanvasColours());
  });
  const seek = (event: ReactPointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const wanted = timeAt(event.clientX, box, span);
    if (replay.isOn && replay.session?.id === session.id) replay.seek(wanted);
    else if (!replay.isReading) ui.attempt(replay.open(session, wanted));
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
        <button
          type="button"
          title="Forward one event (])"
          aria-label="Forward one event"
          onClick={() => stepOrOpen(session, 1)}
        >
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
        aria-label="Time in the session"
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
          {replay.isOn ? `event ${replay.count} of ${replay.replay?.length}` : replay.isReading ? 'loading …' : 'live'}
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
