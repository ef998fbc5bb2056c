import { z } from 'zod';
import { buildRoute, type ProviderPlan } from './route.ts';

/** A provider that still uses version 1 of x402, on both networks. */
export const CHECK_DIGITS: ProviderPlan = {
  key: 'check-digits',
  title: 'Check Digits',
  summary: 'Verifies the check digits of bank accounts and cards; speaks x402 version 1.',
  version: 1,
  networks: ['base', 'solana'],
  routes: [
    buildRoute({
      method: 'GET',
      path: '/v1/iban',
      summary: 'Says whether an IBAN is well formed by its check digits (ISO 13616).',
      price: 1_000,
      input: z.object({ iban: z.string().min(15).max(42) }),
      output: z.object({ iban: z.string(), country: z.string(), valid: z.boolean() }),
      example: { iban: 'DE89 3704 0044 0532 0130 00' },
      work({ iban }) {
        const compact = iban.replace(/\s/g, '').toUpperCase();
        const moved = `${compact.slice(4)}${compact.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
          String(letter.charCodeAt(0) - 55),
        );
        const valid = /^\d+$/.test(moved) && BigInt(moved) % 97n === 1n;
        return { iban: compact, country: compact.slice(0, 2), valid };
      },
    }),
    buildRoute({
      method: 'POST',
      path: '/v1/luhn',
      summary: 'Says whether a number carries the right check digit (ISO/IEC 7812, Luhn).',
      price: 1_000,
      input: z.object({ number: z.string().regex(/^[\d ]{2,40}$/) }),
      output: z.object({ valid: z.boolean() }),
      example: { number: '4539 1488 0343 6467' },
      work({ number }) {
        const digits = [...number.replace(/ /g, '')].reverse().map(Number);
        const sum = digits.reduce((total, digit, index) => {
          const doubled = index % 2 === 1 ? digit * 2 : digit;
          return total + (doubled > 9 ? doubled - 9 : doubled);
        }, 0);
        return { valid: sum % 10 === 0 };
      },
    }),
  ],
};
