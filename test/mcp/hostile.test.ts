import { describe, expect, it } from 'vitest';
import { TOOLS } from '../../src/mcp/tools/index.ts';
import { MARK, makeHostile } from './hostile.ts';
import { ask, serveMcp } from './serving.ts';

/** Fields of answers in which a provider's text may stand. */
const PROVIDERS = new Set(['title', 'tagline', 'description', 'provider_name', 'url', 'input', 'example']);

const LISTS = ['server/discover', 'tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];

/** What can be asked of each tool; each has its own tests besides. */
const CALLS: Record<string, object[]> = {
  search_listings: [{}, { q: MARK }, { sort: 'price', limit: 50 }, { provider: MARK }],
  get_listing: [{ slug: 'hostile-0' }, { slug: 'hostile-1', routes_offset: 3 }, { slug: 'absent' }],
  list_changes: [{}],
  catalogue_summary: [{}],
};

describe("a provider's text that wants to be more", () => {
  it('is in nothing that is said of the server, its tools, resources and prompt', async () => {
    const { url } = await serveMcp(makeHostile());
    for (const method of LISTS) expect(JSON.stringify(await ask(url, method)), method).not.toContain(MARK);
  });

  it('stands in its own fields alone, whatever tool answers', async () => {
    const { url, errors } = await serveMcp(makeHostile());
    let seen = 0;
    for (const [name, calls] of Object.entries(CALLS)) {
      if (!Object.hasOwn(TOOLS, name)) continue;
      for (const args of calls) {
        const { result } = await ask(url, 'tools/call', { name, arguments: args });
        const told = result.isError ? result.content[0].text : '';
        expect(told, name).not.toContain(MARK);
        if (result.isError) continue;
        expect(result.content).toHaveLength(1);
        expect(result.content[0].text).not.toMatch(/[\n\r\u2028\u2029]/);
        const fields = [result.structuredContent, JSON.parse(result.content[0].text)].flatMap((part) =>
          listFieldsWith(MARK, part),
        );
        seen += fields.length;
        expect(
          fields.filter((field) => !PROVIDERS.has(field)),
          name,
        ).toEqual([]);
      }
    }
    expect(seen).toBeGreaterThan(10);
    expect(errors).toEqual([]);
  });

  it('is in the data of the prompt, and in none of its sentences', async () => {
    const { url } = await serveMcp(makeHostile());
    for (const slug of makeHostile().map(({ slug }) => slug)) {
      const { result } = await ask(url, 'prompts/get', { name: 'pay_for_listed_api', arguments: { slug } });
      const [words, data] = result.messages;
      expect(JSON.stringify([result.description, words])).not.toContain(MARK);
      expect(data.content.text).toContain(MARK);
      expect(data.content.text).not.toMatch(/[\n\r\u2028\u2029]/);
      expect(listFieldsWith(MARK, JSON.parse(data.content.text)).filter((field) => !PROVIDERS.has(field))).toEqual([]);
    }
  });

  it('is quoted or code in the Markdown of a resource', async () => {
    const { url } = await serveMcp(makeHostile());
    for (const slug of makeHostile().map(({ slug }) => slug)) {
      const { result } = await ask(url, 'resources/read', { uri: `catalogue://listing/${slug}` });
      const { text, ...rest } = result.contents[0];
      expect(JSON.stringify(rest)).not.toContain(MARK);
      const bare = text
        .replace(/^(`{3,})[^\n]*\n[\s\S]*?\n\1$/gm, '')
        .split('\n')
        .filter((line: string) => !/^\s*>/.test(line))
        .join('\n')
        .replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
      expect(text).toContain(MARK);
      expect(bare).not.toContain(MARK);
    }
  });

  it('is in no completion of a slug, and no refusal', async () => {
    const { url } = await serveMcp(makeHostile());
    const ref = { type: 'ref/resource', uri: 'catalogue://listing/{slug}' };
    const completed = await ask(url, 'completion/complete', { ref, argument: { name: 'slug', value: '' } });
    expect(completed.result.completion.values).toHaveLength(makeHostile().length);
    const route = { name: 'pay_for_listed_api', arguments: { slug: 'hostile-0', route: 'GET /none' } };
    const refused = await ask(url, 'prompts/get', route);
    expect(refused.error.code).toBe(-32602);
    expect(JSON.stringify([completed, refused])).not.toContain(MARK);
  });
});

/** Lists the fields that hold a word, each by the name of the outermost field of a provider's around it, else its own. */
function listFieldsWith(word: string, value: unknown, field = ''): string[] {
  if (PROVIDERS.has(field) || typeof value !== 'object' || value === null) {
    return JSON.stringify(value)?.includes(word) ? [field] : [];
  }
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name.includes(word) ? [`the name ${name}`] : []),
    ...listFieldsWith(word, member, Array.isArray(value) ? field : name),
  ]);
}
