import { describe, expect, it, vi } from 'vitest';
import paint from '../../src/pictures/painting.ts';
import { PICTURE } from './picture.ts';

const paintWith = async (picture: Partial<typeof PICTURE>) => Buffer.from(await paint({ ...PICTURE, ...picture }));

describe('a picture', () => {
  it.each([
    '\u{1F680}\u{1F525}',
    '\u{1F680} - !',
    '',
    '\u202E\u2067',
    '世界の都市の天気予報',
    'OpenAI互換の翻訳API、50言語に対応した翻訳サービス',
    'Weather in 天気',
    'توقعات الطقس لكل مدينة',
    'Prices ∛ 5',
  ])('is headed by the host where a word or sign of the title %j cannot be painted', async (title) => {
    expect(await paintWith({ title })).toEqual(await paintWith({ title: PICTURE.host ?? '', host: null }));
  });

  it('says nothing in place of a tagline that cannot be painted, and names the provider where its name cannot', async () => {
    expect(await paintWith({ tagline: '天気 for all' })).toEqual(await paintWith({ tagline: '' }));
    expect(await paintWith({ author: '株式会社' })).toEqual(await paintWith({ author: 'the provider' }));
  });

  it('is the same with what no font has and is no letter, and without', async () => {
    const strange = {
      title: '\u{1F680} fly \u{1F680} now',
      tagline: 'a \u{1F525}b\u200f\u202e\0',
      author: '\u{1F680} c',
    };
    expect(await paintWith(strange)).toEqual(await paintWith({ title: 'fly now', tagline: 'a b', author: 'c' }));
  });

  it('has no stacks of marks', async () => {
    const title = 'Z\u0351\u036B\u0343a\u0334\u0361l\u034E\u0320g\u035Do';
    expect(await paintWith({ title })).toEqual(await paintWith({ title: 'Zalgo' }));
  });

  it.each([
    ['Dự báo thời tiết cho mọi thành phố', 'Прогноз погоды для каждого города'],
    ['Πρόγνωση καιρού για κάθε πόλη', 'Łódź, Çeşme, Þingvellir'],
  ])('has the letters of Latin, Cyrillic and Greek: %s', async (title, tagline) => {
    const bare = await paintWith({ title: PICTURE.host ?? '', host: null, tagline: '' });
    expect(await paintWith({ title, tagline: '' })).not.toEqual(bare);
    expect(await paintWith({ title, tagline })).not.toEqual(await paintWith({ title, tagline: '' }));
  });

  it('asks nothing of the network, and of a long text only its beginning', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const hostile = '<image href="http://127.0.0.1:1/x"/>\u{1F680}天</text></svg>';
    const long = 'x '.repeat(2_000_000);
    expect(await paintWith({ title: long, tagline: long, author: hostile })).toEqual(
      await paintWith({ title: long.slice(0, 400), tagline: long.slice(0, 400), author: 'the provider' }),
    );
    expect(fetched).not.toHaveBeenCalled();
  });
});
