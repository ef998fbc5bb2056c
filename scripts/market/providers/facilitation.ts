import { z } from 'zod';

const verification = z.object({ isValid: z.boolean(), invalidReason: z.string().optional() });
const settlement = z.object({
  success: z.boolean(),
  transaction: z.string(),
  network: z.string(),
  payer: z.string().optional(),
  errorReason: z.string().optional(),
});

/** A facilitator's result of a settlement, which a seller passes on to the buyer as the receipt. */
export type Settlement = z.infer<typeof settlement>;

/** A payment as it came in a header, and the terms that it has to meet, both in the form of their x402 version. */
export interface Presented {
  payment: Record<string, unknown>;
  requirement: Record<string, unknown>;
}

/** Asks a facilitator whether a payment would settle. */
export async function verifyPayment(facilitatorUrl: string, presented: Presented) {
  return verification.parse(await ask(`${facilitatorUrl}/verify`, presented));
}

/** Has a facilitator settle a payment on its chain. */
export async function settlePayment(facilitatorUrl: string, presented: Presented): Promise<Settlement> {
  return settlement.parse(await ask(`${facilitatorUrl}/settle`, presented));
}

async function ask(url: string, { payment, requirement }: Presented): Promise<unknown> {
  const body = { x402Version: payment.x402Version, paymentPayload: payment, paymentRequirements: requirement };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}

/** Encodes JSON for a header. */
export function encodeHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Decodes the JSON of a header. Undefined for anything else. */
export function decodeHeader(text: string): Record<string, unknown> | undefined {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(Buffer.from(text, 'base64').toString('utf8')));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}
