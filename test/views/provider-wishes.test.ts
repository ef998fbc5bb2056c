import { describe, expect, it } from 'vitest';
import { parseRobots } from '../../src/probing/robots.ts';
import { providerFile } from '../../src/sources/provider-file/parse.ts';
import { PROVIDER_WISHES, ROBOTS_EXAMPLE } from '../../src/views/pages/provider-wishes.ts';

describe('the page for providers', () => {
  it('shows files that are taken as they stand', () => {
    expect(PROVIDER_WISHES.map(({ id }) => id)).toEqual(['list', 'correct', 'remove', 'reply']);
    for (const { file } of PROVIDER_WISHES) expect(providerFile.parse(JSON.parse(file)).listings).toHaveLength(1);
  });

  it('shows a robots.txt that keeps probes away from that path alone', () => {
    const robots = parseRobots(ROBOTS_EXAMPLE);
    expect(robots.findForbidding('https://api.example.com/v1/costly')).toBe('/v1/costly');
    expect(robots.findForbidding('https://api.example.com/v1/forecast')).toBeUndefined();
  });
});
