import { describe, expect, it } from 'vitest';
import { CAUTION_CODES, CAUTIONS, type CautionCode } from '../../src/model/caution.ts';
import { listItemStandings } from '../../src/views/listing/item.ts';
import { formatStanding, listStandings } from '../../src/views/words/standing.ts';

const hold = (code: CautionCode, since: string | null = '2026-11-14T08:00:00.000Z') => ({
  ...{ code, since, severity: CAUTIONS[code].severity },
});
const PROOF = { tone: 'partly', text: '1 of 2 routes verified, 2026-11-20' } as const;

describe('how a listing or a route stands', () => {
  it('is said of each caution in a few words, with its day', () => {
    const said = CAUTION_CODES.map((code) => `${CAUTIONS[code].severity}: ${formatStanding(hold(code))}`);
    expect(said).toEqual([
      'danger: failed our paid call on 2026-11-14',
      'danger: our paid call brought something else on 2026-11-14',
      'danger: payee changed on 2026-11-14',
      'danger: 402 reads two ways since 2026-11-14',
      'notice: new payee announced on 2026-11-14',
      'notice: name of another API since 2026-11-14',
      'notice: price rose on 2026-11-14',
      'notice: withdrawn on 2026-11-14',
      'notice: no valid 402 since 2026-11-14',
      'notice: documents differ in price since 2026-11-14',
      'notice: declared 2026-11-14, not seen yet',
      'notice: payee rotates since 2026-11-14',
    ]);
    expect(CAUTION_CODES.map((code) => formatStanding(hold(code, null))).join('; ')).not.toMatch(/ {2}| on;| since;/);
  });

  it('begins with dangers, then what is proved, then what else is worth knowing', () => {
    const all = listStandings([hold('undelivered'), hold('price_above_record'), hold('never_seen')], PROOF);
    expect(all.map(({ tone, text }) => `${tone}: ${text}`)).toEqual([
      'danger: failed our paid call on 2026-11-14',
      'partly: 1 of 2 routes verified, 2026-11-20',
      'plain: price rose on 2026-11-14',
    ]);
  });

  it('is plain and no alarm where nothing is proved, and says so once', () => {
    const say = (...codes: CautionCode[]) =>
      listStandings(
        codes.map((code) => hold(code)),
        null,
      ).map(({ tone, text }) => `${tone}: ${text}`);
    expect(say()).toEqual(['plain: unverified']);
    expect(say('never_seen')).toEqual(['plain: declared 2026-11-14, not seen yet']);
    expect(say('price_above_record', 'probes_failing')).toEqual([
      'plain: no valid 402 since 2026-11-14',
      'plain: price rose on 2026-11-14',
    ]);
    expect(say('price_above_record')).toEqual(['plain: unverified', 'plain: price rose on 2026-11-14']);
  });

  it('says of how many routes of a listing the terms were never seen, where it is not all', () => {
    const say = (routes: number) =>
      listItemStandings({
        ...{
          endpoints_count: 2,
          verified_route_count: 0,
          last_verified_at: null,
          updated_at: '2026-11-20T08:00:00.000Z',
        },
        cautions: [{ ...hold('never_seen'), route: null, routes }],
      }).map(({ text }) => text);
    expect(say(2)).toEqual(['declared 2026-11-14, not seen yet']);
    expect(say(1)).toEqual(['1 of 2 routes declared 2026-11-14, not seen yet']);
  });
});
