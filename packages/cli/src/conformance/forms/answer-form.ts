import { eventForm, sentEventForm } from './event-forms.ts';
import { type Form, list, nullable, object, text } from './form.ts';
import {
  agentForm,
  deletedEnvironmentForm,
  deletedFileForm,
  deletedResourceForm,
  deletedSessionForm,
  environmentForm,
  errorForm,
  fileForm,
  filePageForm,
  resourceForm,
  sessionForm,
  threadForm,
  workForm,
  workHeartbeatForm,
  workStatsForm,
} from './record-forms.ts';
import { credentialForm, deletedCredentialForm, deletedVaultForm, vaultForm } from './vault-forms.ts';

/** The form of a response; `stream` for event streams; undefined if the contract does not define it. */
export function answerForm(method: string, path: string, status: number): Form<unknown> | 'stream' | undefined {
  if (status >= 400) return errorForm;
  return routes.find(([verb, pattern]) => verb === method && pattern.test(path))?.[2];
}

function page<T>(item: Form<T>): Form<unknown> {
  return object<{ data: readonly T[]; next_page: string | null }>({ data: list(item), next_page: nullable(text) });
}

const sessionPage: Form<unknown> = object<object>({
  data: list(sessionForm),
  next_page: nullable(text),
  prev_page: nullable(text),
});

const routes: readonly (readonly [method: string, path: RegExp, form: Form<unknown> | 'stream'])[] = [
  ['POST', /^\/v1\/agents$/, agentForm],
  ['GET', /^\/v1\/agents$/, page(agentForm)],
  ['GET', /^\/v1\/agents\/[^/]+$/, agentForm],
  ['POST', /^\/v1\/agents\/[^/]+(\/archive)?$/, agentForm],
  ['GET', /^\/v1\/agents\/[^/]+\/versions$/, page(agentForm)],
  ['POST', /^\/v1\/environments$/, environmentForm],
  ['GET', /^\/v1\/environments$/, page(environmentForm)],
  ['GET', /^\/v1\/environments\/[^/]+$/, environmentForm],
  ['POST', /^\/v1\/environments\/[^/]+(\/archive)?$/, environmentForm],
  ['DELETE', /^\/v1\/environments\/[^/]+$/, deletedEnvironmentForm],
  ['GET', /^\/v1\/environments\/[^/]+\/work\/poll$/, nullable(workForm)],
  ['GET', /^\/v1\/environments\/[^/]+\/work\/stats$/, workStatsForm],
  ['GET', /^\/v1\/environments\/[^/]+\/work$/, page(workForm)],
  ['GET', /^\/v1\/environments\/[^/]+\/work\/[^/]+$/, workForm],
  ['POST', /^\/v1\/environments\/[^/]+\/work\/[^/]+(\/ack|\/stop)?$/, workForm],
  ['POST', /^\/v1\/environments\/[^/]+\/work\/[^/]+\/heartbeat$/, workHeartbeatForm],
  ['POST', /^\/v1\/sessions$/, sessionForm],
  ['GET', /^\/v1\/sessions$/, sessionPage],
  ['GET', /^\/v1\/sessions\/[^/]+$/, sessionForm],
  ['POST', /^\/v1\/sessions\/[^/]+(\/archive)?$/, sessionForm],
  ['DELETE', /^\/v1\/sessions\/[^/]+$/, deletedSessionForm],
  ['POST', /^\/v1\/sessions\/[^/]+\/events$/, object<object>({ data: list(sentEventForm) })],
  ['GET', /^\/v1\/sessions\/[^/]+(\/threads\/[^/]+)?\/events$/, page(eventForm)],
  ['GET', /^\/v1\/sessions\/[^/]+\/(events|threads\/[^/]+)\/stream$/, 'stream'],
  ['GET', /^\/v1\/sessions\/[^/]+\/threads$/, page(threadForm)],
  ['GET', /^\/v1\/sessions\/[^/]+\/threads\/[^/]+$/, threadForm],
  ['POST', /^\/v1\/sessions\/[^/]+\/threads\/[^/]+\/archive$/, threadForm],
  ['GET', /^\/v1\/sessions\/[^/]+\/resources$/, page(resourceForm)],
  ['POST', /^\/v1\/sessions\/[^/]+\/resources$/, resourceForm],
  ['GET', /^\/v1\/sessions\/[^/]+\/resources\/[^/]+$/, resourceForm],
  ['DELETE', /^\/v1\/sessions\/[^/]+\/resources\/[^/]+$/, deletedResourceForm],
  ['POST', /^\/v1\/files$/, fileForm],
  ['GET', /^\/v1\/files$/, filePageForm],
  ['GET', /^\/v1\/files\/[^/]+$/, fileForm],
  ['DELETE', /^\/v1\/files\/[^/]+$/, deletedFileForm],
  ['POST', /^\/v1\/vaults$/, vaultForm],
  ['GET', /^\/v1\/vaults$/, page(vaultForm)],
  ['GET', /^\/v1\/vaults\/[^/]+$/, vaultForm],
  ['POST', /^\/v1\/vaults\/[^/]+(\/archive)?$/, vaultForm],
  ['DELETE', /^\/v1\/vaults\/[^/]+$/, deletedVaultForm],
  ['POST', /^\/v1\/vaults\/[^/]+\/credentials$/, credentialForm],
  ['GET', /^\/v1\/vaults\/[^/]+\/credentials$/, page(credentialForm)],
  ['GET', /^\/v1\/vaults\/[^/]+\/credentials\/[^/]+$/, credentialForm],
  ['POST', /^\/v1\/vaults\/[^/]+\/credentials\/[^/]+(\/archive)?$/, credentialForm],
  ['DELETE', /^\/v1\/vaults\/[^/]+\/credentials\/[^/]+$/, deletedCredentialForm],
];
