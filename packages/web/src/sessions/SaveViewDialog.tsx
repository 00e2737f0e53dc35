import { useState } from 'react';
import { savedViews } from '../stores/saved-views.ts';
import { storeLimits } from '../stores/limits.ts';
import { ui } from '../stores/stores.ts';
import { FormDialog } from '../ui/FormDialog.tsx';

/** Saves the current filter under a name, so that it can be opened again. */
export function SaveViewDialog({ search }: { search: string }) {
  const [name, setName] = useState('');
  return (
    <FormDialog
      label="Save this view"
      onSubmit={() => {
        try {
          savedViews.save({ name, search });
          ui.closeDialog();
        } catch (error) {
          ui.notifyError(error);
        }
      }}
      submit={
        <button type="submit" className="primary" disabled={name.trim() === ''}>
          Save
        </button>
      }
    >
      <label htmlFor="view-name">Name</label>
      <input
        id="view-name"
        autoFocus
        maxLength={storeLimits.viewNameCharsMax}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <p className="quiet">Saved in this browser: search, filters and order. A view with the same name is replaced.</p>
    </FormDialog>
  );
}
