import { describe, expect, it } from 'vitest';
import { parseListedUrl } from '../../src/sources/outside-address.ts';

describe('the host of a preview deployment', () => {
  it.each([
    'shop-git-main-tides.vercel.app',
    'shop-api-git-anna-tid-3550-b3eea0-tides-ad724970.vercel.app',
    'shop-k3x9w2pqz-tides.vercel.app',
    'shop-api-j55w7ornb-tide-systems.vercel.app',
    'shop-qrgbqflbo-tides-ad724970.vercel.app',
    'deploy-preview-12--tides.netlify.app',
    '64f1c0ffee64f1c0ffee64f1--tides.netlify.app',
    '1a2b3c4d.tides.pages.dev',
    '1a2b3c4d-tides.anna.workers.dev',
    'tides-shop-pr-12.up.railway.app',
    'tides-pr-7.onrender.com',
    'tides-pr-7.herokuapp.com',
    'pr-7.d1a2b3c4.amplifyapp.com',
  ])('%s is refused', (host) => {
    expect(parseListedUrl(`https://${host}/x`, { allowPrivateNetworks: false })).toEqual({
      code: 'preview_host',
      message: `The host ${host} is a preview deployment and will not last.`,
    });
  });

  it.each([
    'shop.vercel.app',
    'x402-next-mainnet-wheat.vercel.app',
    'sports-arbitrage-api.vercel.app',
    'best-landscape-api.vercel.app',
    'my-x402index-api.vercel.app',
    'shop-release10-api.vercel.app',
    'digit-counter.vercel.app',
    'tides.netlify.app',
    'main--tides.netlify.app',
    'tides.pages.dev',
    'staging.tides.pages.dev',
    'tides.anna.workers.dev',
    'tides-production.up.railway.app',
    'tides-pr.onrender.com',
    'shop-git-main-tides.example.com',
  ])('%s is not one', (host) => {
    expect(parseListedUrl(`https://${host}/x`, { allowPrivateNetworks: false })).toBeInstanceOf(URL);
  });
});
