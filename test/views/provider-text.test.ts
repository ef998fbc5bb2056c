import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLanguage, getProseAttributes, splitProviderText } from '../../src/views/pages/provider-text.ts';

it('shows a text of ordinary length whole, by paragraph', () => {
  expect(splitProviderText('One.\n\nTwo,\nstill two.\n\n\n \n\nThree.')).toEqual({
    shown: ['One.', 'Two,\nstill two.', 'Three.'],
    folded: [],
  });
  expect(splitProviderText('')).toEqual({ shown: [], folded: [] });
});

it('folds what is long between paragraphs, and a long first paragraph between words', () => {
  const long = 'word '.repeat(120).trim();
  expect(splitProviderText([long, long, 'End.'].join('\n\n'))).toEqual({ shown: [long], folded: [long, 'End.'] });
  const { shown, folded } = splitProviderText('word '.repeat(400));
  expect([...shown, ...folded].every((part) => /^(word )*word ?$/.test(part))).toBe(true);
  expect(shown.join('').length).toBeLessThanOrEqual(700);
});

it('loses nothing of any text, and cuts no character in two', () => {
  const strip = (text: string) => text.replace(/\s/g, '');
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '\n\n', '天', '😀', 'word '),
    minLength: 200,
    maxLength: 2000,
  });
  fc.assert(
    fc.property(text, (words) => {
      const { shown, folded } = splitProviderText(words);
      expect(strip([...shown, ...folded].join(''))).toBe(strip(words));
      expect([...shown, ...folded].every((part) => part.isWellFormed())).toBe(true);
    }),
    { numRuns: 100 },
  );
});

it.each(['\u{10400}', '\u{107ff}'])('cuts no text of %s alone in the middle of one', (character) => {
  for (const start of ['', 'a']) {
    const { shown, folded } = splitProviderText(start + character.repeat(2000));
    expect([...shown, ...folded].map((part) => part.isWellFormed())).toEqual([true, true]);
  }
});

describe('the language of a text', () => {
  it.each([
    ['ja', '東京の天気を一時間ごとに返します。'],
    ['ja', 'リアルタイム為替レート API'],
    ['ko', '실시간 환율을 돌려주는 API'],
    ['th', 'พยากรณ์อากาศรายชั่วโมง'],
    ['he', 'תחזית מזג האוויר לכל שעה'],
    ['el', 'Πρόγνωση καιρού ανά ώρα'],
    ['ka', 'ამინდის პროგნოზი'],
    ['hy', 'Եղանակի կանխատեսում'],
  ])('is %s where its script leaves no doubt: %s', (language, text) => {
    expect(findLanguage(text)).toBe(language);
  });

  it.each([
    ['English', 'Hourly weather for any place.'],
    ['Cyrillic, which many languages share', 'Прогноз погоды по часам'],
    ['Arabic, which many languages share', 'توقعات الطقس كل ساعة'],
    ['Han without kana, which may be Chinese or Japanese', '每小時天氣預報'],
    ['Chinese that quotes Japanese', '這個服務提供每小時天氣預報與歷史資料查詢功能，「の」除外'],
    ['English that names something in Japanese', 'Weather for 東京タワー and other places'],
    ['signs of formulas', 'Ω'],
    ['no letters', '12.5 %'],
    ['nothing', ''],
  ])('is not known of %s', (_what, text) => {
    expect(findLanguage(text)).toBeNull();
    expect(getProseAttributes(text)).toEqual({ dir: 'auto' });
  });

  it('is found in time proportional to the text', () => {
    expect(findLanguage('あ'.repeat(200_000))).toBe('ja');
  });
});
