import type { FleetProgram, FleetSettings } from '@fleetloom/protocol/fleet';
import { type ReactNode, useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { NoticeFields } from '../ui/NoticeFields.tsx';
import { PushSettings } from '../ui/push/PushSettings.tsx';
import { useLoaded } from '../ui/use-loaded.ts';
import { Access } from './Access.tsx';
import { Engines } from './Engines.tsx';
import { LoginLink } from './LoginLink.tsx';
import { Retention } from './Retention.tsx';
import { ThemeChoice } from './ThemeChoice.tsx';
import { Webhooks } from './Webhooks.tsx';

/** Settings of this browser, and below them the server's report about itself. */
export function SettingsView() {
  const [reads, setReads] = useState(0);
  const { value, problem, isLoading } = useLoaded('settings', String(reads), readSettings);
  const again = () => setReads(reads + 1);
  return (
    <div className="settings" aria-busy={isLoading}>
      <div className="settings-head">
        <h1>Settings</h1>
        <button type="button" onClick={again} disabled={isLoading}>
          {isLoading ? 'Loading …' : 'Reload'}
        </button>
      </div>
      {problem !== undefined && (
        <p className="fault" role="alert">
          The settings of the server could not be read: {problem instanceof Error ? problem.message : 'no answer'}
        </p>
      )}
      <Section name="You">{value === undefined ? <Loading /> : <Access settings={value.settings} />}</Section>
      <Section name="Another device">
        <LoginLink linkMs={value?.settings.retention.login_link_ms} />
      </Section>
      <Section name="Appearance">
        <ThemeChoice />
      </Section>
      <Section name="Notifications and undo">
        <div className="settings-fields">
          <NoticeFields />
        </div>
        <p className="quiet">Kept in this browser.</p>
        <PushSettings />
      </Section>
      <Section name="Engines">
        {value === undefined ? <Loading /> : <Engines settings={value.settings} programs={value.programs} />}
      </Section>
      <Section name="Webhooks">
        {value === undefined ? <Loading /> : <Webhooks webhooks={value.settings.webhooks} />}
      </Section>
      <Section name="Retention">{value === undefined ? <Loading /> : <Retention settings={value.settings} />}</Section>
    </div>
  );
}

interface Answer {
  readonly settings: FleetSettings;
  readonly programs: readonly FleetProgram[];
}

async function readSettings(): Promise<Answer> {
  const [settings, { data: programs }] = await Promise.all([
    api.get<FleetSettings>('v1/fleet/settings'),
    api.get<{ data: readonly FleetProgram[] }>('v1/programs'),
  ]);
  return { settings, programs };
}

function Section({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <div className="settings-body">{children}</div>
    </section>
  );
}

function Loading() {
  return <p className="quiet">Loading …</p>;
}
