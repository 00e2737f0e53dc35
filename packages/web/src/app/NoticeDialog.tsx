import { useState } from 'react';
import { Modal } from './Modal.tsx';
import { notices } from './notices.ts';
import { useSignal } from './signal.ts';
import { ui } from './stores.ts';
import { undoChoicesMs, undoSetting } from './undo-setting.ts';

/** Whether, and when, the desktop says that somebody is needed; and how long answers can be taken back. */
export function NoticeDialog() {
  useSignal(notices.changed);
  useSignal(undoSetting.changed);
  const [problem, setProblem] = useState('');
  const { isOn, quietFrom, quietTo } = notices.settings;
  const turnOn = async (wanted: boolean) => {
    if (!wanted) return notices.set({ isOn: false });
    if (typeof Notification === 'undefined') return setProblem('This browser has no notifications.');
    const answer = await Notification.requestPermission();
    setProblem(answer === 'granted' ? '' : 'The browser does not allow it: change that beside its address.');
    notices.set({ isOn: answer === 'granted' });
  };
  return (
    <Modal label="Notifications and answers" className="message-dialog">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          ui.set({ dialog: undefined });
        }}
      >
        <h2>Notifications and answers</h2>
        <label>
          <input type="checkbox" autoFocus checked={isOn} onChange={(event) => void turnOn(event.target.checked)} />{' '}
          Tell me on the desktop when an agent needs me and I look elsewhere
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
          An answer can be taken back for{' '}
          <select value={undoSetting.ms} onChange={(event) => undoSetting.set(Number(event.target.value))}>
            {undoChoicesMs.map((ms) => (
              <option key={ms} value={ms}>
                {ms === 0 ? 'no time' : `${ms / 1_000} s`}
              </option>
            ))}
          </select>
        </label>
        <footer>
          <button type="submit" className="primary">
            Done
          </button>
        </footer>
      </form>
    </Modal>
  );
}
