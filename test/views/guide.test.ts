import { describe, expect, it } from 'vitest';
import { buildGuide } from '../../src/views/guide.ts';
import { PATHS } from '../../src/views/links.ts';
import { SKILL_NAME } from '../../src/views/skill.ts';
import { SITE } from '../http/serving.ts';

const COUNTS = { live_listings: 12_345, settlement_verified: 1, revised_at: '2026-11-20T12:00:00.000Z' };

describe('llms.txt', () => {
  it('reads as the reviewed document', async () => {
    const guide = buildGuide(COUNTS, new Map([['Data', 12_000]]), SITE);
    await expect(guide).toMatchFileSnapshot('../golden/llms.txt');
  });

  it('has the structure of llmstxt.org: a title, a summary, prose without headings, then sections of links alone', () => {
    const guide = buildGuide(COUNTS, new Map(), SITE);
    const [head = '', ...sections] = guide.split(/^## /m);
    expect(head).toMatch(/^# Agent-Payable APIs\n\n> .+\n\n/);
    expect(head.match(/^#/gm)).toHaveLength(1);
    expect(sections).toHaveLength(3);
    for (const section of sections) {
      const [, ...lines] = section.trim().split('\n').filter(Boolean);
      for (const line of lines) expect(line).toMatch(/^- \[[^\]]+\]\(https:\/\/catalogue\.example[^)]*\): ./);
    }
  });

  it('names every door', () => {
    const guide = buildGuide(COUNTS, new Map(), SITE);
    const { agentList, agentCheck, agentChanges, mcp, discoveryResources, discoverySearch, openapi, guideFull } = PATHS;
    const { apiCatalog, aiCatalog, ard, sitemapIndex, changesFeed, docsAgents, docsApi, docsUsing, method, providers } =
      PATHS;
    const doors = [agentList, agentCheck, agentChanges, mcp, discoveryResources, discoverySearch, openapi, guideFull];
    const further = [
      apiCatalog,
      aiCatalog,
      ard,
      sitemapIndex,
      changesFeed,
      docsAgents,
      docsApi,
      docsUsing,
      method,
      providers,
    ];
    const templates = [PATHS.skill(SKILL_NAME), PATHS.agentListing('{slug}'), PATHS.listingMarkdown('{slug}')];
    for (const path of [...doors, ...further, ...templates]) {
      expect([path, guide.includes(`${SITE.baseUrl}${path}`)]).toEqual([path, true]);
    }
  });

  it('says how to search, how to pay, what verified means and as of when it counts, and links no single listing', () => {
    const guide = buildGuide(COUNTS, new Map(), SITE);
    expect(guide).toContain('12,345 live listings, 1 of them settlement-verified, as of 2026-11-20 12:00 UTC');
    expect(guide).toContain('https://catalogue.example/agent/list?q={words}');
    expect(guide).toContain('https://catalogue.example/mcp');
    expect(guide).toContain('HTTP 402');
    expect(guide).toContain('this service itself paid, from its own wallet');
    expect(guide).toContain('listing is free, providers keep 100% of what a call earns');
    expect(guide).not.toMatch(/\]\([^)]*\.example\/api\//);
  });
});
