import { z } from 'zod';
import { isPublicKey } from '../../push/encrypt-message.ts';
import { isTimeZone } from '../../push/quiet-hours.ts';
import { pushLimits } from '../../push/limits.ts';
import { name } from './common.ts';

const kind = z.enum(['approvals', 'failures']);
const time = z.iso.datetime();
const hour = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);
const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, { error: 'is not a known time zone', params: { advice: 'use a name such as Europe/Vienna' } });

const endpoint = z
  .string()
  .max(pushLimits.pushEndpointCharsMax)
  .refine(isEndpoint, {
    error: 'is not an https URL without user name and password',
    params: { advice: 'send the `endpoint` of the browser’s PushSubscription' },
  });

const publicKey = z
  .string()
  .max(100)
  .refine((text) => isPublicKey(Buffer.from(text, 'base64url')), {
    error: 'is not a public key on the curve P-256',
    params: { advice: 'send `keys` of the browser’s PushSubscription' },
  });

/** A secret of 16 bytes in base64url. */
const secret = z.string().regex(/^[A-Za-z0-9_-]{22}(?:==)?$/);

/** Quiet hours. The same begin and end is rejected: it could mean no quiet hours, or all day. */
const quietHours = z.strictObject({ from: hour, to: hour, time_zone: timeZone }).refine(({ from, to }) => from !== to, {
  error: 'begin and end at the same time',
  params: { advice: 'send null for no quiet hours' },
});

/** The body that adds a device for push messages. */
export const pushDeviceBody = z.strictObject({
  label: name,
  endpoint,
  keys: z.strictObject({ p256dh: publicKey, auth: secret }),
  notify: z.array(kind).min(1).max(2).exactOptional(),
  quiet_hours: quietHours.nullable().exactOptional(),
  include_content: z.boolean().exactOptional(),
});

/** The public key that browsers subscribe with, in responses. */
export const pushKey = z.strictObject({ type: z.literal('push_key'), public_key: z.string() }).meta({ id: 'PushKey' });

/** A device that receives push messages, in responses. */
export const pushDevice = z
  .strictObject({
    type: z.literal('push_subscription'),
    id: z.string(),
    label: z.string(),
    service: z.string(),
    notify: z.array(kind),
    quiet_hours: z.strictObject({ from: z.string(), to: z.string(), time_zone: z.string() }).nullable(),
    include_content: z.boolean(),
    created_by: z.string(),
    created_at: time,
    last_sent_at: time.nullable(),
    problem: z.string().nullable(),
  })
  .meta({ id: 'PushSubscription' });

/** All devices of a workspace, in responses. */
export const pushDevices = z
  .strictObject({ type: z.literal('push_subscriptions'), data: z.array(pushDevice) })
  .meta({ id: 'PushSubscriptions' });

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return protocol === 'https:' && username === '' && password === '';
}
