import { useState } from 'react';
import { notices } from '../stores/notices/notices.ts';
import { useSignal } from '../stores/signal.ts';
import { undoChoicesMs, undoSetting } from '../stores/undo-setting.ts';

/** Desktop notifications, quiet hours, and for how long decisions can be undone: settings of this browser. */
export function NoticeFields({ isFocused = false }: { isFocused?: boolean }) {
  useSignal(notices.changed);
  useSignal(undoSetting.changed);
  const [problem, setProblem] = useState('');
  const { isOn, quietFrom, quietTo } = notices.settings;
  const turnOn = async (wanted: boolean) => {
    if (!wanted) return notices.set({ isOn: false });
    if (typeof Notification === 'undefined') return setProblem('This browser does not support notifications.');
    const answer = await Notification.requestPermission();
    setProblem(
      answer === 'granted'
        ? ''
        : 'The browser blocks notifications of this page. Allow them in the site settings, next to the address.',
    );
    notices.set({ isOn: answer === 'granted' });
  };
  return (
    <>
      <label>
        <input
          type="checkbox"
          autoFocus={isFocused}
          checked={isOn}
          onChange={(event) => void turnOn(event.target.checked)}
        />{' '}
        Notify me on the desktop when an agent needs me and this page has no focus
      </label>
      {problem !== '' && <p className="fault">{problem}</p>}
      <fieldset className="quiet-hours">
        <legend>Quiet hours</legend>
        <label>
          from{' '}
          <input
            type="time"
            value={quietFrom}
            onChange={(event) => notices.set({ quietFrom: event.target.value.slice(0, 5) })}
          />
        </label>
        <label>
          to{' '}
          <input
            type="time"
            value={quietTo}
            onChange={(event) => notices.set({ quietTo: event.target.value.slice(0, 5) })}
          />
        </label>
      </fieldset>
      <label>
        Decisions can be undone for{' '}
        <select value={undoSetting.ms} onChange={(event) => undoSetting.set(Number(event.target.value))}>
          {undoChoicesMs.map((ms) => (
            <option key={ms} value={ms}>
              {ms === 0 ? '0 s (sent at once)' : `${ms / 1_000} s`}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
