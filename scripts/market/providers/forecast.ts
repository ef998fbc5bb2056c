import { z } from 'zod';
import { buildRoute, type ProviderPlan } from './route.ts';

/** A provider that takes the money first, and then always fails. */
export const FORECAST: ProviderPlan = {
  key: 'forecast',
  title: 'Tomorrow’s Tides',
  summary: 'Tide tables for any harbour, charged in advance.',
  version: 2,
  networks: ['base'],
  settlesFirst: true,
  routes: [
    buildRoute({
      method: 'GET',
      path: '/v1/tides',
      summary: 'Gives the times of high and low water.',
      price: 3_000,
      input: z.object({ harbour: z.string().min(1).max(80) }),
      output: z.object({ harbour: z.string(), high: z.array(z.string()), low: z.array(z.string()) }),
      example: { harbour: 'Cuxhaven' },
      work() {
        throw new Error('The tide tables are not there.');
      },
    }),
  ],
};
