import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import type { Listing } from '../../src/model/listing.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { ProbeOutcome } from '../../src/model/probe.ts';
import type { Terms } from '../../src/model/terms.ts';
import { IDENTITY, makeFolder, makeRoute, makeTerms, recordVerified } from '../builders.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { getTime, makeWorld } from './evidence-world.ts';
import { type Declared, type Recorded, type Seen, workOutOurs, workOutSeen } from './published-oracle.ts';

const [LISTINGS, ROUTES, STEPS, STEP_HOURS] = [6, 2, 56, 12];

/** How a seller answers for some steps. */
const phase = fc.record({
  steps: fc.integer({ min: 1, max: 34 }),
  kind: fc.oneof(
    { weight: 4, arbitrary: fc.constant('ask') },
    { weight: 3, arbitrary: fc.constant('down') },
    fc.constant('neither'),
  ),
  amounts: fc.array(fc.constantFrom(1000, 2000, 3000), { minLength: 1, maxLength: 2 }),
  networks: fc.constantFrom<('base' | 'solana')[]>(['base'], ['base', 'solana'], ['solana']),
  payee: fc.constantFrom(1, 2, 'fresh', 'fresh and told'),
});
type Phase = typeof phase extends fc.Arbitrary<infer Value> ? Value : never;

/** The first payee is the one that the declaration names and the receipt was paid to. */
const getPayee = (number: number) => (number === 1 ? makeTerms().pay_to : `0x${String(number).padStart(40, '0')}`);

function buildSample(one: Phase | undefined, step: number, listing: number): Omit<Recorded, 'at' | 'route'> {
  if (step > 0 && one?.kind === 'down') return { outcome: 'timeout', terms: [], payee_rotates: null };
  if (step > 0 && one?.kind === 'neither') return { outcome: 'input_rejected', terms: [], payee_rotates: null };
  const { amounts = [1000], networks = ['base'], payee = 1 } = one ?? {};
  const pay_to = getPayee(typeof payee === 'number' ? payee : 100 + step * LISTINGS + listing);
  const amount = amounts[step % amounts.length] ?? 1000;
  const terms = networks.map((network): Terms => makeTerms({ network, asset: NETWORKS[network].usdc, amount, pay_to }));
  const outcome: ProbeOutcome = step % 5 === 0 ? 'payable_with_changed_terms' : 'payable';
  return { outcome, terms, payee_rotates: payee === 'fresh and told' ? true : null };
}

/** Says how a seller answers at a step. */
function getPhase(phases: readonly Phase[], step: number): Phase | undefined {
  let until = 0;
  return phases.find(({ steps }) => {
    until += steps;
    return step < until;
  });
}

/** What readers do see of a listing. */
function read({ state, price_min, price_max, networks, reliability, routes }: Listing): Seen {
  return {
    state: state === 'delisted' ? 'delisted' : 'live',
    prices: [price_min ?? 0, price_max ?? 0],
    advertised: networks.filter(({ advertised }) => advertised).map(({ key }) => key),
    band: reliability.band,
    score: reliability.score,
    verified: routes[0]?.verification === 'settlement-verified',
    routes: routes.map(({ payee, terms }) => ({
      payee,
      terms: terms
        .filter(({ evidence }) => evidence === 'observed')
        .map(({ network, amount, pay_to, first_seen_at, current }) => [
          network,
          amount,
          pay_to,
          first_seen_at ?? '',
          current,
        ]),
    })),
  };
}

/**
 * Checks, for random sellers, that whatever is sampled and whenever it is published, readers see what working it out again
 * gives. `runs` is how many sets of sellers are tried.
 */
export async function checkPublished(runs: number): Promise<void> {
  const folder = makeFolder();
  const catalogue = fc.array(phase, { minLength: 2, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(catalogue, { minLength: LISTINGS, maxLength: LISTINGS }),
      fc.array(fc.boolean(), { minLength: STEPS, maxLength: STEPS }),
      async (sellers, publishes) => {
        const opened = await openNewCatalogue(join(folder, randomUUID()), { identity: IDENTITY, at: getTime(0) });
        const world = await makeWorld(opened);
        const recorded = sellers.map((): Recorded[] => []);
        const slugs = sellers.map((_, index) => `seller-${index}`);
        for (const slug of slugs) {
          const routes = Array.from({ length: ROUTES }, (_, route) => makeRoute({ path: `/v1/${'ab'[route]}` }));
          await world.declare({ slug, base_url: `https://${slug}.example-provider.com`, routes });
        }
        // What was paid for was asked by the payee of the declaration, which is the first of the sellers' own.
        await recordVerified(opened, 'seller-0', '/v1/a', getTime(0));
        const before = slugs.map(() => ({ state: 'live' as Seen['state'], delisted_at: '' }));
        for (let step = 0; step < STEPS; step += 1) {
          for (const [index, slug] of slugs.entries()) {
            const hours = step * STEP_HOURS + index / 10;
            const sample = buildSample(getPhase(sellers[index] ?? [], step), step, index);
            const route = step % ROUTES;
            await world.see(hours, { slug, path: `/v1/${'ab'[route]}`, ...sample });
            recorded[index]?.push({ ...sample, at: getTime(hours), route });
          }
          if (!publishes[step] && step < STEPS - 1) continue;
          const published = getTime(step * STEP_HOURS + 1);
          await world.publish(step * STEP_HOURS + 1);
          const ours = workOutOurs(recorded);
          for (const [index, slug] of slugs.entries()) {
            const declared: Declared = {
              routes: ROUTES,
              terms: makeTerms(),
              receipt: index === 0 ? (makeTerms().pay_to ?? '') : null,
            };
            const was = before[index] ?? { state: 'live', delisted_at: '' };
            const worked = workOutSeen(declared, recorded[index] ?? [], ours, was);
            const seen = read(await world.find(slug));
            expect({ ...seen, score: null }).toEqual({ ...worked, score: null });
            expect(Math.abs((seen.score ?? 0) - (worked.score ?? 0))).toBeLessThan(5);
            before[index] = worked.state === was.state ? was : { state: worked.state, delisted_at: published };
          }
          expect(await listStaleListings(opened)).toEqual([]);
        }
        await opened.close();
      },
    ),
    { numRuns: runs },
  );
}
