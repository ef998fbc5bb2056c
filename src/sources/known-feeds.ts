/** Feeds of facilitators that list the resources they settle payments for, by the name of the facilitator. */
export const KNOWN_FEEDS: Readonly<Record<string, string>> = {
  cdp: 'https://api.cdp.coinbase.com/platform/v2/x402/discovery/resources',
  payai: 'https://facilitator.payai.network/discovery/resources',
  thirdweb: 'https://api.thirdweb.com/v1/payments/x402/discovery/resources',
  aurracloud: 'https://x402-facilitator.aurracloud.com/discovery/resources',
  questflow: 'https://facilitator.questflow.ai/discovery/resources',
  anyspend: 'https://mainnet.anyspend.com/x402/discovery/resources',
};
