import { describe, expect, it } from 'vitest';
import { listTopics } from '../../src/published/topics.ts';
import { makeDeclaration, makeRoute } from '../records.ts';
import { makeLiveListing } from '../views/listings.ts';

describe('the topics of a listing', () => {
  it('are its telling words, each once, the title first, plurals with their singular', async () => {
    const declaration = makeDeclaration({
      title: 'Weather API',
      tagline: 'Weather forecasts for cities',
      description: 'Get the forecast of a city. Address lookup.',
      routes: [makeRoute({ path: '/v1/tides/:harbour' })],
    });
    expect(listTopics(await makeLiveListing(declaration))).toEqual([
      'weather',
      'forecast',
      'city',
      'address',
      'lookup',
      'tide',
      'harbour',
    ]);
  });

  it('are never more than 32, however long the text', async () => {
    const description = Array.from({ length: 200 }, (_, at) => `word${at}x`).join(' ');
    expect(listTopics(await makeLiveListing(makeDeclaration({ description })))).toHaveLength(32);
  });
});
