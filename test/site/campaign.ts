import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rebuild } from '../../src/site/rebuild.ts';
import { rebuildAgain } from './rebuilding.ts';
import { getContent, type SiteFixture } from './site-fixture.ts';

/** How a campaign goes. */
export interface CampaignPlan {
  readonly rebuilds: number;
  /** Of so many rebuilds one is killed. */
  readonly killEvery: number;
  readonly listings: number;
  /** Pseudo-random numbers in [0, 1). */
  readonly random: () => number;
}

/** Readers ask for so many pages at least from the beginning of one rebuild to that of the next. */
const READS_A_ROUND = 100;

/** What a campaign came to. */
export interface CampaignReport {
  requests: number;
  /** Requests that got no whole answer, or another status than 200. */
  failed: string[];
  /** Answers with the page of another listing, or of an edition that never was. */
  wrong: string[];
  killed: number;
  written: number;
  /** Links of the home page that were followed. */
  followed: number;
  /** Rebuilds after a kill whose pages were not those of a build from scratch. */
  different: string[];
}

/**
 * Rebuilds again and again while readers ask for pages over real connections, kills rebuilds with SIGKILL at random
 * moments, and compares what follows a kill with the same catalogue built from scratch in another place.
 */
export async function runCampaign(
  fixture: SiteFixture,
  url: string,
  scratch: string,
  { rebuilds, killEvery, listings, random }: CampaignPlan,
): Promise<CampaignReport> {
  const report: CampaignReport = {
    requests: 0,
    failed: [],
    wrong: [],
    killed: 0,
    written: 0,
    followed: 0,
    different: [],
  };
  const editions = new Map(Array.from({ length: listings }, (_, number) => [number, new Set(['first'])]));
  const ended = new AbortController();
  const readers = Array.from({ length: 8 }, () =>
    read(url, { listings, editions, random, report, signal: ended.signal }),
  );
  try {
    // How long one takes that has to start a process first, as one to be killed has.
    let wholeMs = 600;
    for (let round = 0; round < rebuilds; round += 1) {
      const numbers = Array.from({ length: 1 + Math.floor(random() * 3) }, () => Math.floor(random() * listings));
      for (const number of numbers) editions.get(number)?.add(`e${round}`);
      await fixture.put([...new Set(numbers)], `e${round}`);
      const enough = report.requests + READS_A_ROUND;
      const isKilled = round % killEvery === killEvery - 1;
      if (isKilled) {
        const killing = new AbortController();
        setTimeout(() => killing.abort(), random() * wholeMs);
        const started = performance.now();
        // A rebuild that was done before the kill came is as good as any, and says how long one takes by now: the first one,
        // of every page, takes longer. Kills go on for a little longer, so that they reach its end.
        await rebuild({ config: fixture.config, signal: killing.signal }).then(
          () => {
            report.written += 1;
            wholeMs = 1.2 * (performance.now() - started);
          },
          () => (report.killed += 1),
        );
      } else {
        const started = performance.now();
        await (round === 0 ? rebuild : rebuildAgain)({ config: fixture.config });
        if (round === 0) wholeMs = performance.now() - started;
        report.written += 1;
        if (round % killEvery === 0) await compare(fixture, join(scratch, `round-${round}`), report);
      }
      while (report.requests < enough) await sleep(5);
    }
    // The last one may have been killed.
    await rebuildAgain({ config: fixture.config });
    const written = getContent(fixture.config);
    await rebuild({ config: fixture.config, force: true });
    if (JSON.stringify(getContent(fixture.config)) !== JSON.stringify(written)) report.different.push('with force');
  } finally {
    ended.abort();
    await Promise.all(readers);
  }
  return report;
}

/** Compares the pages with those of the same catalogue written from scratch. */
async function compare(fixture: SiteFixture, elsewhere: string, report: CampaignReport): Promise<void> {
  const config = { ...fixture.config, siteDir: elsewhere };
  await rebuildAgain({ config });
  const current = getContent(fixture.config);
  if (JSON.stringify(getContent(config)) !== JSON.stringify(current)) {
    report.different.push(`${current.revision}: ${elsewhere}`);
  }
}

interface Reader {
  listings: number;
  editions: ReadonlyMap<number, ReadonlySet<string>>;
  random: () => number;
  report: CampaignReport;
  signal: AbortSignal;
}

/** One reader, over one connection that is kept. */
async function read(url: string, { listings, editions, random, report, signal }: Reader): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!signal.aborted) {
    if (random() < 0.05) await followLink(agent, url, random, report);
    const number = Math.floor(random() * listings);
    const isMarkdown = random() < 0.3;
    const path = `/api/api-${number}${isMarkdown ? '.md' : ''}`;
    report.requests += 1;
    try {
      const { status, text } = await fetchWith(agent, `${url}${path}`);
      if (status !== 200) report.failed.push(`${path}: ${status}`);
      const [, titled, edition = ''] = (isMarkdown ? /Title(\d+) (\w+)/ : /<title>Title(\d+) (\w+)/).exec(text) ?? [];
      const isRight = Number(titled) === number && editions.get(number)?.has(edition) && /<\/html>\s*$|\n$/.test(text);
      if (status === 200 && !isRight) report.wrong.push(`${path}: Title${titled} ${edition}`);
    } catch (error) {
      report.failed.push(`${path}: ${error}`);
    }
    await sleep(random() * 4);
  }
  agent.destroy();
}

/** Follows a link of the home page. */
async function followLink(agent: Agent, url: string, random: () => number, report: CampaignReport): Promise<void> {
  try {
    const { text } = await fetchWith(agent, `${url}/`);
    const links = [...text.matchAll(/ href="(\/[^"#?]*)["#?]/g)].map(([, link = '']) => link);
    const link = links[Math.floor(random() * links.length)] ?? '/none';
    const { status } = await fetchWith(agent, `${url}${link}`);
    if (status !== 200) report.failed.push(`/ → ${link}: ${status}`);
    report.followed += 1;
  } catch (error) {
    report.failed.push(`/: ${error}`);
  }
}

function fetchWith(agent: Agent, url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    }).once('error', reject);
  });
}
