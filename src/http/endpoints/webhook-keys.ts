import { findWebhookKey } from '../../published/state.ts';
import { buildWebhookKeys } from '../../views/conventions.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocument } from '../document.ts';
import { defineFile } from './define.ts';

/** The public key of the events that webhooks of providers get. */
export const webhookKeysEndpoint = defineFile({
  id: 'getWebhookKeys',
  path: PATHS.webhookKeys,
  summary: 'The key of events for webhooks',
  description: `Receivers verify the signature v1a of an event with it, as Standard Webhooks has it. ${PATHS.providers} says how a provider asks for events.`,
  content: {
    description: 'The key; no key before the first event',
    type: 'application/json',
    example: () => buildWebhookKeys('whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='),
  },
  build: (_, { reading: { published }, snapshot: { revision } }) =>
    buildDocument(JSON.stringify(buildWebhookKeys(findWebhookKey(published))), { revision }),
});
