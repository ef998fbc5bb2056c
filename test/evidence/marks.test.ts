import { describe, expect, it } from 'vitest';
import { findMark } from '../../src/evidence/marks.ts';
import type { Route } from '../../src/model/route.ts';

function mark(host: string, ...routes: [path: string, description: string, set_aside?: true][]) {
  const made = routes.map(([path, description, set_aside]) => ({ path, description, set_aside }) as Route);
  return findMark({ base_url: `https://${host}`, routes: made })?.as;
}

describe('the host of a listing', () => {
  it.each([
    'staging.tides.com',
    'dev.tides.com',
    'test.api.tides.co.uk',
    'api-dev.agents.tides.io',
    'dev-api2.tides.io',
    'x402-staging.tides.io',
    '5f1c-00-tides.janeway.replit.dev',
    'tides.preview.emergentagent.com',
  ])('%s is one for tests', (host) => {
    expect(mark(host)).toBe('test');
  });

  it.each(['demo.tides.com', 'x402-demo-tides.vercel.app', 'tides-demo.fly.dev', 'hello-world-x402.vercel.app'])(
    '%s is a demo',
    (host) => {
      expect(mark(host)).toBe('demo');
    },
  );

  it.each([
    'tides.dev',
    'api.tides.dev',
    'demo.com',
    'staging.com',
    'dev-toolkit.tides.net',
    'devices.tides.com',
    'testify.tides.com',
    'latest.tides.com',
    'sandbox.tides.dev',
    'preview.tides.com',
    'qa.tides.com',
    'virtual-staging.tides.com',
    'demographics.tides.com',
    'democracy-api.vercel.app',
    'tides-production.up.railway.app',
    'tides.test',
    '127.0.0.1:4000',
  ])('%s says nothing', (host) => {
    expect(mark(host)).toBeUndefined();
  });
});

describe('the routes of a listing', () => {
  it.each([
    ['demo', [['/a', 'Demo endpoint for discovery']]],
    ['demo', [['/hello', 'Returns "Hello World" once it is paid']]],
    ['demo', [['/protected', 'Access to protected content']]],
    [
      'demo',
      [
        ['/a', 'Demo of a payment'],
        ['/b', 'A real thing, say others', true],
      ],
    ],
    [
      'token sale',
      [
        ['/tides-public-sale', 'Tides Public Sale'],
        ['/tides-early-bird', ''],
        ['/ping', 'Alive?'],
      ],
    ],
    ['token sale', [['/mint/xs', '$0.01 for 30 $TIDES']]],
    [
      undefined,
      [
        ['/a', 'Demo of a payment'],
        ['/b', 'High tide at a harbour'],
      ],
    ],
    [undefined, [['/a', 'Tides of the day. Demo: ?demo=true']]],
    [undefined, [['/democracy', 'Democracy by country']]],
    [undefined, [['/presale', 'Lists upcoming presales of tokens']]],
    [undefined, [['/launch', 'A plan for a fair launch of a token']]],
    [undefined, [['/mint', 'Mints a picture']]],
    [undefined, [['/price', 'Price of a tide for 10 USDC']]],
    [undefined, [['/ping', 'Alive?']]],
    [undefined, []],
  ] as [string | undefined, [string, string, true?][]][])('say %s: %j', (as, routes) => {
    expect(mark('api.tides.com', ...routes)).toBe(as);
  });
});
