import { describe, expect, it } from 'vitest';
import { CAUTION_CODES } from '../../src/model/caution.ts';
import { parseRobots } from '../../src/probing/robots.ts';
import { PROVIDER_FILE_PATH as PATH_READ, providerFile } from '../../src/sources/provider-file/schema.ts';
import { buildProvidersPage, PROVIDER_FILE_PATH } from '../../src/views/pages/providers-page.ts';
import { SITE } from '../http/serving.ts';

const page = buildProvidersPage(SITE);

describe('the page for providers', () => {
  it('shows files that are taken as they stand, at the address where they are looked for', () => {
    expect(PROVIDER_FILE_PATH).toBe(PATH_READ);
    expect(page.wishes.map(({ id }) => id)).toEqual(['list', 'correct', 'remove', 'reply']);
    for (const { file } of page.wishes) expect(providerFile.parse(JSON.parse(file)).listings).toHaveLength(1);
  });

  it('names every caution that a reply can be to', () => {
    expect(page.cautions.map(({ code }) => code)).toEqual(CAUTION_CODES);
  });

  it('shows a robots.txt that keeps probes away from that path alone', () => {
    const robots = parseRobots(page.robots);
    expect(robots.findForbidding('https://api.example.com/v1/costly')).toBe('/v1/costly');
    expect(robots.findForbidding('https://api.example.com/v1/forecast')).toBeUndefined();
  });

  it('names whom to tell, or that no address is set', () => {
    expect(page.contact).toEqual({ name: SITE.contactName, url: SITE.contactUrl });
    expect(buildProvidersPage({ ...SITE, contactUrl: SITE.baseUrl }).contact).toBeNull();
  });
});
