import { z } from 'zod';
import { buildRoute, type ProviderPlan } from './route.ts';

/** A POST route whose JSON body is checked before a payment is asked for. */
export const LOAN_DESK: ProviderPlan = {
  key: 'loan-desk',
  title: 'Loan Desk',
  summary: 'Works out what a loan costs by the month; requests are checked before they are charged for.',
  version: 2,
  networks: ['base'],
  checksInputFirst: true,
  routes: [
    buildRoute({
      method: 'POST',
      path: '/v1/loan-schedule',
      summary: 'Works out the instalments of a loan that is paid back in equal parts.',
      price: 2_000,
      input: z.object({
        principal: z.number().positive().max(1e9).describe('The amount lent'),
        annual_rate: z.number().min(0).max(1).describe('Interest of a year as a fraction: 0.05 is five per cent'),
        months: z.int().min(1).max(600),
      }),
      output: z.object({
        monthly_payment: z.number(),
        total_interest: z.number(),
        schedule: z.array(z.object({ month: z.int(), interest: z.number(), principal: z.number(), left: z.number() })),
      }),
      example: { principal: 12_000, annual_rate: 0.06, months: 12 },
      work({ principal, annual_rate, months }) {
        const rate = annual_rate / 12;
        const payment = rate === 0 ? principal / months : (principal * rate) / (1 - (1 + rate) ** -months);
        let left = principal;
        const schedule = Array.from({ length: months }, (_, index) => {
          const interest = left * rate;
          left = index === months - 1 ? 0 : left - (payment - interest);
          return {
            month: index + 1,
            interest: round(interest),
            principal: round(payment - interest),
            left: round(left),
          };
        });
        return {
          monthly_payment: round(payment),
          total_interest: round(payment * months - principal),
          schedule,
        };
      },
    }),
  ],
};

function round(amount: number): number {
  return Math.round(amount * 100) / 100;
}
