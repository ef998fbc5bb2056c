import { describe, expect, it } from 'vitest';
import { findLanguage, getProseAttributes } from '../../src/views/pages/provider-text.ts';

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
