import { describe, expect, it } from 'vitest';
import { getHostTitle, isTitle } from '../../src/evidence/titles.ts';
import { startProcessorTime } from '../processor-time.ts';

describe('the title of a listing that no source names', () => {
  it.each([
    ['api.weather-now.dev', 'Weather Now'],
    ['www.tides.com', 'Tides'],
    ['x402.tide-tables.co.uk', 'Tide Tables'],
    ['pro-api.tides.com', 'Tides'],
    ['qr.tidehouse.io', 'Tidehouse QR'],
    ['docs-lookup.tidehouse.net', 'Tidehouse Docs Lookup'],
    ['dev-toolkit.tidehouse.net', 'Tidehouse Dev Toolkit'],
    ['api-dev.agents.tidehouse.io', 'Tidehouse Agents'],
    ['pay.tidepay.ai', 'Tidepay'],
    ['402tides.io', '402tides'],
    ['www.x402tides.com', 'x402tides'],
    ['x402-tides.vercel.app', 'Tides'],
    ['tide-tables-wheat.vercel.app', 'Tide Tables'],
    ['tide-wheat.example.com', 'Example Tide Wheat'],
    ['tides-api-production-4f2a.up.railway.app', 'Tides'],
    ['tide-server.onrender.com', 'Tide'],
    ['tides-utiwoa54hq-uc.a.run.app', 'Tides'],
    ['tide-tables-main-50fbb45.d2.zuplo.dev', 'Tide Tables'],
    ['tide-tables.anna.workers.dev', 'Tide Tables'],
    ['nft-defi.example.com', 'Example NFT DeFi'],
    ['x402.app', 'x402'],
    ['api.dev', 'API'],
    ['203.0.113.7', '203.0.113.7'],
    ['localhost:8402', 'localhost:8402'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['a1b2c3d4e5.execute-api.us-east-1.amazonaws.com', 'a1b2c3d4e5.execute-api.us-east-1.amazonaws.com'],
    ['d111111abcdef8.cloudfront.net', 'd111111abcdef8.cloudfront.net'],
    ['a.example', 'a.example'],
  ])('is made from its host: %s is %s', (host, title) => {
    expect(getHostTitle(`https://${host}`, [])).toBe(title);
  });

  it.each([
    ['tidehouse.io', ['Heights by TideHouse, for every port.'], 'TideHouse'],
    ['sea.tidehouse.io', ['TideHouse data.', 'From Tide House.', 'By TideHouse.'], 'TideHouse Sea'],
    ['annabsmith.com', ['Songs of Anna B. Smith by mood.'], 'Anna B. Smith'],
    ['tidehouse.io', ['the tide house at sea'], 'Tide House'],
    ['tideheightsapi.vercel.app', ['Heights of the tide.'], 'Tide Heights'],
    ['tideheights.vercel.app', ['Heights alone.'], 'Tideheights'],
  ])('is written as the texts of its routes write it: %s, %j', (host, texts, title) => {
    expect(getHostTitle(`https://${host}`, texts)).toBe(title);
  });

  it.each([
    ['', false],
    ['api.tides.example', false],
    ['API.tides.example:8443', false],
    ['FastAPI', false],
    ['x402 API', false],
    ['Next', false],
    ['Next.js App', false],
    ['Create Next App', false],
    ['Vite + React + TS', false],
    ['Home', false],
    ['402', false],
    ['402 Payment Required', false],
    ['Error 500', false],
    ['Payment Required (402)', false],
    ['Not Found', false],
    ['https://tides.example/home', false],
    ['Tides', true],
    ['Tides API', true],
    ['Payment Gateway', true],
    ['Run 402', true],
    ['Home Prices', true],
    ['911', true],
  ])('is not looked for if a source gives one: %j', (title, isOne) => {
    expect(isTitle(title, 'https://api.tides.example:8443')).toBe(isOne);
  });

  it('takes little time, however long the texts are', () => {
    const texts = Array.from({ length: 500 }, () => 'tide house '.repeat(45));
    const getWork = startProcessorTime();
    getHostTitle(`https://${'tidehouse'.repeat(6)}.io`, texts);
    expect(getWork()).toBeLessThan(500);
  });
});
