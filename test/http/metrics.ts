import { makeFolder } from '../builders.ts';
import { makeWritten } from '../site/rebuilding.ts';
import { ask, serveSiteFixture, type TestServer } from './running.ts';

/** Starts a server that serves metrics, closed after the test. */
export async function serveWithMetrics(): Promise<TestServer & { metricsUrl: string }> {
  const fixture = await makeWritten(makeFolder(), { METRICS_PORT: '0' });
  const server = await serveSiteFixture({ fixture, written: false });
  if (server.metricsUrl === undefined) throw new Error('no metrics are served');
  return { ...server, metricsUrl: server.metricsUrl };
}

/** Reads the samples of a server: lines of name, labels and value. */
export async function readSamples({ metricsUrl }: { metricsUrl: string }): Promise<string[]> {
  const { text } = await ask({ url: metricsUrl }, '/metrics');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** Finds the value of the sample with a name and, among others, these labels. */
export function findSample(
  samples: readonly string[],
  name: string,
  labels: Readonly<Record<string, string>>,
): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = samples.find(
    (sample) => /^[^{ ]+/.exec(sample)?.[0] === name && wanted.every((label) => sample.includes(label)),
  );
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

/** Calls an MCP tool of a server. */
export function callTool({ url }: { url: string }, name: string, args: object): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });
}
