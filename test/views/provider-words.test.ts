import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitProviderText } from '../../src/views/pages/provider-text.ts';

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
