import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { describe, expect, it } from 'vitest';
import { createSyntheticCatalogue } from '../../scripts/bench/synthetic.ts';
import { makeFolder } from '../builders.ts';
import { serveLive } from './serving.ts';

const LISTINGS = 15;

/** Gives the live document of a catalogue of many listings, as text. */
async function fetchLargeDocument(): Promise<string> {
  const catalogue = await createSyntheticCatalogue(`${makeFolder()}/catalogue.sqlite`, LISTINGS);
  const text = await (await (await serveLive(catalogue)).get('/openapi.json')).text();
  await catalogue.close();
  return text;
}

describe('the live document of many listings', () => {
  it('gives no finding under the strict rules of Redocly and of Spectral', async () => {
    const text = await fetchLargeDocument();
    const document = JSON.parse(text);
    expect(document.tags).toHaveLength(LISTINGS);

    const config = await createConfig({ extends: ['recommended-strict'] });
    const externalRefResolver = new BaseResolver();
    const source = makeDocumentFromString(text, 'openapi.json');
    const problems = await lintDocument({ document: source, externalRefResolver, config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual(
      [],
    );

    const spectral = new spectralCore.Spectral();
    spectral.setRuleset({
      extends: [[{ extends: [], ...spectralRulesets.oas }, 'recommended']],
      // Tags here are listings, not groups of operations.
      rules: { 'operation-tags': 'off', 'operation-tag-defined': 'off' },
    });
    const findings = await spectral.run(document);
    expect(findings.map(({ code, message, path }) => `${code}: ${message} ${path.join('.')}`)).toEqual([]);
  });
});
