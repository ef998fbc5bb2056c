import type { Picture } from '../../src/views/picture.ts';

/** The picture of a listing. */
export const PICTURE: Picture = {
  service: 'Catalogue',
  title: 'Example Prices',
  host: 'api.prices.example',
  tagline: 'Prices of things.',
  author: 'Example Provider',
  facts: [{ name: 'USDC per request', value: '0.001' }],
  stamp: { text: '1 of 2 routes verified, 2026-11-20', tone: 'partly' },
};
