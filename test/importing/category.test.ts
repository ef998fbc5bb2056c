import { describe, expect, it } from 'vitest';
import { makeCommands, writeManifest } from '../cli/running.ts';

describe('the category of a listing that names none', () => {
  it.each([
    ['Data', 'Parcel shipping rates', 'Compares shipping rates and delivery prices of carriers for a parcel.'],
    ['Data', 'Site technology', 'Detects the technology stack of a website: CMS, frameworks and analytics.'],
    ['Tools', 'Social boost', 'Buy Twitter followers, likes and retweets. Social media engagement for any post.'],
    ['Finance', 'Interest rates', 'Interest rates and exchange rates of central banks.'],
    ['Verification', 'Address check', 'Verifies an email address and detects fraud.'],
  ])('is %s for %s', async (category, name, tagline) => {
    const { folder, runJson } = makeCommands();
    const { json } = await runJson('import', writeManifest(folder, 'one.yaml', { name, tagline }));
    const { listing } = (await runJson('show', json.outcomes[0].slug)).json;
    expect([listing.category, listing.category_inferred]).toEqual([category, true]);
  });
});
