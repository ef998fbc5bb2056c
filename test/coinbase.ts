import { resolve } from 'node:path';

const CLIENT = resolve(import.meta.dirname, '../node_modules/@coinbase/cdp-sdk/_esm/openapi-client/index.js');

/** Opens Coinbase's own client, without credentials, at an address. Its discovery is generated code that its index does not name. */
export async function openCoinbase(url: string) {
  const client = await import(CLIENT);
  client.CdpOpenApiClient.configure({ basePath: url });
  return client;
}
