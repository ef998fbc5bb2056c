import type { Site } from '../src/views/site.ts';

/** The service's own settings in tests. */
export const SITE: Site = {
  baseUrl: 'https://catalogue.example',
  serviceTitle: 'Agent-Payable APIs',
  contactName: 'Catalogue maintainers',
  contactUrl: 'https://catalogue.example/contact',
};
